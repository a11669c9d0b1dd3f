package fixes

import "mem/diagnostics"

// JoinDescription is the ID of the fix.
const JoinDescription = "join-description"

func joinDescription() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      JoinDescription,
		Summary: "Puts a description on one line.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
