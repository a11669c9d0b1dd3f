package rules

import "mem/diagnostics"

func topicStale() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "topic-stale",
		Severity: diagnostics.Information,
		Summary:  "A project topic was not touched for a long time.",
	}
}
