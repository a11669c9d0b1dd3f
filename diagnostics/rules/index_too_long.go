package rules

import "mem/diagnostics"

func indexTooLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-too-long",
		Severity: diagnostics.Error,
		Summary:  "The index has more lines than are loaded.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
