package fixes

import "mem/diagnostics"

// RemoveEntry is the ID of the fix.
const RemoveEntry = "remove-entry"

func removeEntry() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveEntry,
		Summary: "Removes an entry of the index.",
		Kind:    diagnostics.QuickFix,
	}
}
