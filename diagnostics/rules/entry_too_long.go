package rules

import "mem/diagnostics"

func entryTooLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "entry-too-long",
		Severity: diagnostics.Information,
		Summary:  "An entry of the index is longer than one line that is read at a glance.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
