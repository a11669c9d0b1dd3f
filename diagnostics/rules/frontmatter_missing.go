package rules

import "mem/diagnostics"

func frontmatterMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no frontmatter.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
