package rules

import "mem/diagnostics"

func nameNotSlug() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "name-not-slug",
		Severity: diagnostics.Information,
		Summary:  "The name of a topic is not in kebab-case.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
	}
}
