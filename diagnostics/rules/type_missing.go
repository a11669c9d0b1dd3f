package rules

import "mem/diagnostics"

func typeMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "type-missing",
		Severity: diagnostics.Error,
		Summary:  "A topic has no type.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
