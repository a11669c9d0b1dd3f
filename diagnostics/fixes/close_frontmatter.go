package fixes

import "mem/diagnostics"

// CloseFrontmatter is the ID of the fix.
const CloseFrontmatter = "close-frontmatter"

func closeFrontmatter() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      CloseFrontmatter,
		Summary: "Adds the closing fence of the frontmatter.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
