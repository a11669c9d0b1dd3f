package fixes

import "mem/diagnostics"

// SetDescription is the ID of the fix.
const SetDescription = "set-description"

func setDescription() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SetDescription,
		Summary: "Gives a topic its first sentence as description.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
