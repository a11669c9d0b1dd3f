package rules

import (
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func frontmatterMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no frontmatter.",
		Kinds:    topics,
		Fixes:    []string{fixes.AddFrontmatter},
		Evidence: []diagnostics.Evidence{
			{Claim: "a scan reads name, description and type from the frontmatter, and judges by the description whether a topic matters", Source: "seed 24.1", Checked: observed},
			{Claim: "topics are written with name, description and type in frontmatter", Source: "observed", Client: client, Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			if p.Doc.File.Front != nil || p.View.LinkedOnly {
				return // a file that the index of a repository links may be the repository's own
			}
			for _, problem := range p.Doc.File.Problems {
				if problem.Code == memfile.NotUTF8 {
					return // UTF-16 hides frontmatter, and none can be put before it
				}
			}
			p.Report(diagnostics.Finding{
				Span:    p.Doc.FirstLine(),
				Message: `The topic has no frontmatter, so nothing tells an agent when to read it. Put name, description and type between two "---" lines at its top.`,
				Offers:  fixes.OfferFrontmatter(p.Doc),
			})
		},
	}
}
