package rules

import "mem/diagnostics"

func brokenLink() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "broken-link",
		Severity: diagnostics.Error,
		Summary:  "A link leads to a file that does not exist.",
	}
}
