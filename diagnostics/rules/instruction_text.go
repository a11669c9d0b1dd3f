package rules

import "mem/diagnostics"

func instructionText() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "instruction-text",
		Severity: diagnostics.Warning,
		Summary:  "A file addresses its reader with commands.",
		Safety:   true,
		Kinds:    []diagnostics.Kind{diagnostics.Index, diagnostics.Topic, diagnostics.Log},
	}
}
