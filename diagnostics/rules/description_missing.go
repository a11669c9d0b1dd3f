package rules

import "mem/diagnostics"

func descriptionMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "description-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no description.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
