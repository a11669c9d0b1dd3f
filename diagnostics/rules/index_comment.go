package rules

import "mem/diagnostics"

func indexComment() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-comment",
		Severity: diagnostics.Information,
		Summary:  "The index has an HTML comment, which no reader loads.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
