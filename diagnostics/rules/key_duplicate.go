package rules

import "mem/diagnostics"

func keyDuplicate() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "key-duplicate",
		Severity: diagnostics.Warning,
		Summary:  "A key stands twice in the frontmatter.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
