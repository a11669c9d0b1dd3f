package rules

import "mem/diagnostics"

func bodyStructure() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "body-structure",
		Severity: diagnostics.Hint,
		Summary:  "A feedback or project topic does not say why, or how to apply it.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
