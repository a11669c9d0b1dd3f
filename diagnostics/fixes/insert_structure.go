package fixes

import "mem/diagnostics"

// InsertStructure is the ID of the fix.
const InsertStructure = "insert-structure"

func insertStructure() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      InsertStructure,
		Summary: "Adds the lines that say why and how to apply a memory.",
		Kind:    diagnostics.QuickFix,
	}
}
