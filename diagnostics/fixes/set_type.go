package fixes

import "mem/diagnostics"

// SetType is the ID of the fix.
const SetType = "set-type"

func setType() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SetType,
		Summary: "Sets the type of a topic.",
		Kind:    diagnostics.QuickFix,
	}
}
