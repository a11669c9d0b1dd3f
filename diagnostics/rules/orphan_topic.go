package rules

import "mem/diagnostics"

func orphanTopic() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "orphan-topic",
		Severity: diagnostics.Warning,
		Summary:  "No link leads from the index to a topic.",
	}
}
