package rules

import "mem/diagnostics"

func unusedIgnore() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "unused-ignore",
		Severity: diagnostics.Warning,
		Summary:  "An ignore comment silences nothing.",
	}
}
