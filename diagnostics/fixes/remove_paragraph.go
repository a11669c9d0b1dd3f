package fixes

import "mem/diagnostics"

// RemoveParagraph is the ID of the fix.
const RemoveParagraph = "remove-paragraph"

func removeParagraph() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveParagraph,
		Summary: "Removes a paragraph that is said elsewhere.",
		Kind:    diagnostics.QuickFix,
	}
}
