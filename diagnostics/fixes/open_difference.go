package fixes

import "mem/diagnostics"

// OpenDifference is the ID of the fix.
const OpenDifference = "open-difference"

func openDifference() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      OpenDifference,
		Summary: "Shows base, mine and theirs side by side.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Command: diagnostics.ShowDiff,
	}
}
