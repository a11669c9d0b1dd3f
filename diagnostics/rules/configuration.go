package rules

import "mem/diagnostics"

func configuration() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "configuration",
		Severity: diagnostics.Error,
		Summary:  "A .mem.yaml cannot be obeyed.",
	}
}
