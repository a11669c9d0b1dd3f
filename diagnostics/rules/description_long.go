package rules

import "mem/diagnostics"

func descriptionLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "description-long",
		Severity: diagnostics.Information,
		Summary:  "A description is longer than a reader takes in at a glance.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
