package rules

import "mem/diagnostics"

func frontmatterUnclosed() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-unclosed",
		Severity: diagnostics.Error,
		Summary:  "The frontmatter of a topic has no closing fence.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
