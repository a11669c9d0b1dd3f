package rules

import (
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func indexFrontmatter() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-frontmatter",
		Severity: diagnostics.Warning,
		Summary:  "The index has frontmatter, which no reader loads.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Fixes:    []string{fixes.RemoveFrontmatter},
		Evidence: []diagnostics.Evidence{
			{Claim: "leading frontmatter is removed from the index before it is loaded", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
			{Claim: "none of the indexes in 137 public repositories has frontmatter", Source: "observed", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			front := p.Doc.File.Front
			if front == nil || !front.Closed {
				return // without its end it is loaded, as text
			}
			span := front.Span
			for span.End > span.Start && (p.Doc.Source()[span.End-1] == '\n' || p.Doc.Source()[span.End-1] == '\r') {
				span.End--
			}
			p.Report(diagnostics.Finding{
				Span:        span,
				Message:     "Frontmatter of an index is not loaded: no agent ever reads it. Put what matters below it into the list or a topic, and remove it.",
				Unnecessary: true,
				Offers:      []diagnostics.Offer{{Fix: fixes.RemoveFrontmatter, Title: "Remove the frontmatter"}},
			})
		},
	}
}
