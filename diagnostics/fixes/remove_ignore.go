package fixes

import "mem/diagnostics"

// RemoveIgnore is the ID of the fix.
const RemoveIgnore = "remove-ignore"

func removeIgnore() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveIgnore,
		Summary: "Removes an ignore comment.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
