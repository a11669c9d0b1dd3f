package fixes

import "mem/diagnostics"

// PublishTopic is the ID of the fix.
const PublishTopic = "publish-topic"

func publishTopic() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      PublishTopic,
		Summary: "Shows what a publish of this topic would bring to the team, and publishes it once that is confirmed.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Command: diagnostics.Publish,
	}
}
