package rules

import "mem/diagnostics"

func frontmatterSyntax() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-syntax",
		Severity: diagnostics.Error,
		Summary:  "The frontmatter is not YAML that a strict reader accepts.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
