package rules

import (
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func indexComment() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-comment",
		Severity: diagnostics.Information,
		Summary:  "The index has an HTML comment, which no reader loads.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Fixes:    []string{fixes.RemoveComment},
		Evidence: []diagnostics.Evidence{
			{Claim: "HTML comments that stand as blocks are removed from the index before it is loaded; those inside lines, lists and code are loaded",
				Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			for _, span := range p.Doc.Outline().Comments {
				if diagnostics.IsIgnore(p.Doc.File.Text.Slice(span)) {
					continue
				}
				p.Report(diagnostics.Finding{
					Span:        span,
					Message:     "This comment is not loaded: no agent ever reads it. Put what matters into an entry or a topic, and remove it.",
					Unnecessary: true,
					Offers:      []diagnostics.Offer{{Fix: fixes.RemoveComment, Title: "Remove the comment"}},
				})
			}
		},
	}
}
