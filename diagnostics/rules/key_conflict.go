package rules

import "mem/diagnostics"

func keyConflict() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "key-conflict",
		Severity: diagnostics.Warning,
		Summary:  "A key has one value at the top level and another below metadata.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
