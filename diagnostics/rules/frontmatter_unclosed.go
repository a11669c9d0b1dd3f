package rules

import (
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func frontmatterUnclosed() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-unclosed",
		Severity: diagnostics.Error,
		Summary:  "The frontmatter of a topic has no closing fence.",
		Kinds:    topics,
		Fixes:    []string{fixes.CloseFrontmatter},
		Evidence: []diagnostics.Evidence{
			{Claim: `frontmatter stands between two lines "---"`, Source: "seed 24.1", Checked: observed},
			{Claim: "a common reader of frontmatter says nothing of a missing closing fence and reads no keys", Source: "docs/architecture.md", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			for _, problem := range p.Doc.File.Problems {
				if problem.Code == memfile.Unclosed {
					p.Report(diagnostics.Finding{Span: problem.Span, Message: sentence(problem.Message), Offers: fixes.OfferClose(p.Doc.File)})
				}
			}
		},
	}
}
