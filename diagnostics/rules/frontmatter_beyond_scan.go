package rules

import "mem/diagnostics"

func frontmatterBeyondScan() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-beyond-scan",
		Severity: diagnostics.Error,
		Summary:  "The frontmatter ends after the lines that a scan reads.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
