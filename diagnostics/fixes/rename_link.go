package fixes

import "mem/diagnostics"

// RenameLink is the ID of the fix.
const RenameLink = "rename-link"

func renameLink() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RenameLink,
		Summary: "Lets a [[name]] name the topic with the nearest name.",
		Kind:    diagnostics.QuickFix,
	}
}
