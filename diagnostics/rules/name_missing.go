package rules

import (
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func nameMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "name-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no name.",
		Kinds:    topics,
		Fixes:    []string{fixes.SetName, fixes.RenameKey},
		Evidence: []diagnostics.Evidence{
			{Claim: "a topic's frontmatter has a name", Source: "seed 24.1", Checked: observed},
			{Claim: "[[name]] links lead to topics by their names", Source: "4,039 files of 137 public repositories", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil || f.Value("name") != "" {
				return
			}
			if found, ok := fixes.MisspelledFinding(f, "name"); ok {
				p.Report(found)
				return
			}
			p.Report(diagnostics.Finding{
				Span:    keyLine(f, "name"),
				Message: "The topic has no name, which is what [[links]] and lists of memories call it by. Give it a short one in kebab-case.",
				Offers:  fixes.OfferName(p.Doc),
			})
		},
	}
}
