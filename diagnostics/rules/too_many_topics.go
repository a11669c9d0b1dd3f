package rules

import "mem/diagnostics"

func tooManyTopics() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "too-many-topics",
		Severity: diagnostics.Warning,
		Summary:  "There are more topics than a scan lists.",
	}
}
