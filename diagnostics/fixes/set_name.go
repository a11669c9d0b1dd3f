package fixes

import "mem/diagnostics"

// SetName is the ID of the fix.
const SetName = "set-name"

func setName() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SetName,
		Summary: "Gives a topic the name that its file has.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
