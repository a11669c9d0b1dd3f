package rules

import "mem/diagnostics"

func typeUnknown() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "type-unknown",
		Severity: diagnostics.Error,
		Summary:  "The type of a topic is none of the four.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
