package rules

import "mem/diagnostics"

func indexNearLimit() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-near-limit",
		Severity: diagnostics.Information,
		Summary:  "The index is nearly as long or as large as is loaded.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
