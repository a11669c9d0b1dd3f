package fixes

import "mem/diagnostics"

// RemoveFrontmatter is the ID of the fix.
const RemoveFrontmatter = "remove-frontmatter"

func removeFrontmatter() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveFrontmatter,
		Summary: "Removes frontmatter that no reader loads.",
		Kind:    diagnostics.QuickFix,
	}
}
