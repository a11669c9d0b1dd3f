package fixes

import "mem/diagnostics"

// CreateTopic is the ID of the fix.
const CreateTopic = "create-topic"

func createTopic() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      CreateTopic,
		Summary: "Creates the topic that a link leads to.",
		Kind:    diagnostics.QuickFix,
	}
}
