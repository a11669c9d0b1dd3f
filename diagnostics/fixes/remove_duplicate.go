package fixes

import "mem/diagnostics"

// RemoveDuplicate is the ID of the fix.
const RemoveDuplicate = "remove-duplicate"

func removeDuplicate() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveDuplicate,
		Summary: "Removes an entry that an earlier one says as well.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
