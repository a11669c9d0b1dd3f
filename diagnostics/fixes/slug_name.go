package fixes

import "mem/diagnostics"

// SlugName is the ID of the fix.
const SlugName = "slug-name"

func slugName() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SlugName,
		Summary: "Writes a topic's name in kebab-case.",
		Kind:    diagnostics.QuickFix,
	}
}
