package rules

import "mem/diagnostics"

func hiddenCharacter() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "hidden-character",
		Severity: diagnostics.Warning,
		Summary:  "A file holds characters that a model reads and a person does not see.",
		Safety:   true,
		Kinds:    []diagnostics.Kind{diagnostics.Index, diagnostics.Topic, diagnostics.Log},
	}
}
