package rules

import "mem/diagnostics"

func referenceLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "reference-long",
		Severity: diagnostics.Information,
		Summary:  "A reference topic is long, where it should only say where things are.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
