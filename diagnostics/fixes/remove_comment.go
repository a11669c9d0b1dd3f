package fixes

import "mem/diagnostics"

// RemoveComment is the ID of the fix.
const RemoveComment = "remove-comment"

func removeComment() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveComment,
		Summary: "Removes a comment that no reader loads.",
		Kind:    diagnostics.QuickFix,
	}
}
