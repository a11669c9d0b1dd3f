package rules

import "mem/diagnostics"

func descriptionMultiline() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "description-multiline",
		Severity: diagnostics.Information,
		Summary:  "A description takes more than one line.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
