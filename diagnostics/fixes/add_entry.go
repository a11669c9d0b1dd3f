package fixes

import "mem/diagnostics"

// AddEntry is the ID of the fix.
const AddEntry = "add-entry"

func addEntry() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      AddEntry,
		Summary: "Adds the entry of a topic to the index.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
