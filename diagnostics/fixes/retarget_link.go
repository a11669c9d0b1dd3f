package fixes

import "mem/diagnostics"

// RetargetLink is the ID of the fix.
const RetargetLink = "retarget-link"

func retargetLink() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RetargetLink,
		Summary: "Lets a link lead to the topic with the nearest name.",
		Kind:    diagnostics.QuickFix,
	}
}
