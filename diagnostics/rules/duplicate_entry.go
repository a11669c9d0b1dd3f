package rules

import "mem/diagnostics"

func duplicateEntry() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "duplicate-entry",
		Severity: diagnostics.Warning,
		Summary:  "Two entries of the index lead to the same topic.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
