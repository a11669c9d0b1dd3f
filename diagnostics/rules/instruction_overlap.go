package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func instructionOverlap() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "instruction-overlap",
		Severity: diagnostics.Information,
		Summary:  "A topic repeats what the project's instructions say.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
		Fixes:    []string{fixes.RemoveParagraph},
		Evidence: []diagnostics.Evidence{
			{Claim: "what the project's instructions say is not to be saved as a memory", Source: "seed", Checked: "2026-11-30"},
			{Claim: "CLAUDE.md is loaded in every session, whatever memory says", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			if p.Guide == nil || repositoryOwn(p) {
				return // the documents of a repository are for people, too
			}
			t := p.Doc.File.Text
			for s := range diagnostics.Paragraphs(t, p.Doc.File.Body) {
				for g := p.Guide; g != nil; g = g.Next {
					line, ok := g.Line(t.Slice(s))
					if !ok {
						continue
					}
					p.Report(diagnostics.Finding{
						Span: s,
						Message: fmt.Sprintf("%s says this as well, on line %d, and is loaded in every session. Two copies drift apart: keep it there, and remove it here.",
							memdir.ShownName(g.Path), line+1),
						Offers: []diagnostics.Offer{{Fix: fixes.RemoveParagraph, Title: "Remove the paragraph"}},
					})
					break
				}
			}
		},
	}
}
