package rules

import (
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func typeMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "type-missing",
		Severity: diagnostics.Error,
		Summary:  "A topic has no type.",
		Kinds:    topics,
		Fixes:    []string{fixes.SetType, fixes.RenameKey},
		Evidence: []diagnostics.Evidence{
			{Claim: "a topic's type is one of user, feedback, project and reference", Source: "seed 24.1", Checked: observed},
			{Claim: "type stands at the top level or below metadata", Source: "observed", Client: client, Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil || f.Value("type") != "" {
				return
			}
			if found, ok := fixes.MisspelledFinding(f, "type"); ok {
				p.Report(found)
				return
			}
			p.Report(diagnostics.Finding{
				Span:    keyLine(f, "type"),
				Message: "The topic has no type. Say whether it is about the user, feedback on how to work, the project, or a reference to something outside.",
				Offers:  fixes.OfferTypes(p.Doc),
			})
		},
	}
}
