package rules

import "mem/diagnostics"

func nameDuplicate() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "name-duplicate",
		Severity: diagnostics.Warning,
		Summary:  "Two topics have the same name.",
	}
}
