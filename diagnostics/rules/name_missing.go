package rules

import "mem/diagnostics"

func nameMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "name-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no name.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
