package rules

import (
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func descriptionMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "description-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no description.",
		Kinds:    topics,
		Fixes:    []string{fixes.SetDescription, fixes.RenameKey},
		Evidence: []diagnostics.Evidence{
			{Claim: "the description is one line by which relevance is judged", Source: "seed 24.1", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil || f.Value("description") != "" {
				return
			}
			if found, ok := fixes.MisspelledFinding(f, "description"); ok {
				p.Report(found)
				return
			}
			p.Report(diagnostics.Finding{
				Span:    keyLine(f, "description"),
				Message: "The topic has no description, by which an agent decides whether to read it. Say in one line when this memory matters.",
				Offers:  fixes.OfferDescription(p.Doc),
			})
		},
	}
}
