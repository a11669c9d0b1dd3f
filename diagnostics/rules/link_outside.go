package rules

import "mem/diagnostics"

func linkOutside() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "link-outside",
		Severity: diagnostics.Error,
		Summary:  "A link leads out of the memory directory.",
		Safety:   true,
	}
}
