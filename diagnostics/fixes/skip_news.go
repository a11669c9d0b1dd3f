package fixes

import "mem/diagnostics"

// SkipNews is the ID of the fix.
const SkipNews = "skip-news"

func skipNews() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SkipNews,
		Summary: "Takes nothing of this version of the team's, and remembers that until they change it again.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Command: diagnostics.SkipNews,
	}
}
