package rules

import "mem/diagnostics"

func secret() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "secret",
		Severity: diagnostics.Error,
		Summary:  "A file holds what looks like a secret.",
		Safety:   true,
		Late:     true,
		Kinds:    []diagnostics.Kind{diagnostics.Index, diagnostics.Topic, diagnostics.Log},
	}
}
