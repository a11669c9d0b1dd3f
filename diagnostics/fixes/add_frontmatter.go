package fixes

import "mem/diagnostics"

// AddFrontmatter is the ID of the fix.
const AddFrontmatter = "add-frontmatter"

func addFrontmatter() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      AddFrontmatter,
		Summary: "Adds frontmatter with a name and a description.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
