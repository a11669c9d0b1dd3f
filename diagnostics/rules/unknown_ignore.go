package rules

import "mem/diagnostics"

func unknownIgnore() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "unknown-ignore",
		Severity: diagnostics.Warning,
		Summary:  "An ignore comment names no rule, or one that cannot be silenced.",
	}
}
