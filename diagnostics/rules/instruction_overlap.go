package rules

import "mem/diagnostics"

func instructionOverlap() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "instruction-overlap",
		Severity: diagnostics.Information,
		Summary:  "A topic repeats what the project's instructions say.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
