package rules

import "mem/diagnostics"

func unknownLink() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "unknown-link",
		Severity: diagnostics.Information,
		Summary:  "A [[name]] is the name of no topic.",
	}
}
