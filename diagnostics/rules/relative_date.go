package rules

import "mem/diagnostics"

func relativeDate() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "relative-date",
		Severity: diagnostics.Information,
		Summary:  "A date counts from a day that the reader does not know.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
