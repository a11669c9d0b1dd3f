package rules

import "mem/diagnostics"

func conflictMarkers() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "conflict-markers",
		Severity: diagnostics.Error,
		Summary:  "A file holds the marks of a merge conflict.",
		Kinds:    []diagnostics.Kind{diagnostics.Index, diagnostics.Topic, diagnostics.Log},
	}
}
