package rules

import "mem/diagnostics"

func indexTooLarge() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-too-large",
		Severity: diagnostics.Error,
		Summary:  "The index has more text than is loaded.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
