package rules

import "mem/diagnostics"

func indexFrontmatter() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-frontmatter",
		Severity: diagnostics.Warning,
		Summary:  "The index has frontmatter, which no reader loads.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
	}
}
