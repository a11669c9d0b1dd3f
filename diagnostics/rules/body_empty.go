package rules

import "mem/diagnostics"

func bodyEmpty() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "body-empty",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no text.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
