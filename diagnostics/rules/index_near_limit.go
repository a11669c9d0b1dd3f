package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/diagnostics"
)

func indexNearLimit() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-near-limit",
		Severity: diagnostics.Information,
		Summary:  "The index is nearly as long or as large as is loaded.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Evidence: append([]diagnostics.Evidence{
			{Claim: "the client's own generator writes at most 140 lines and 17,500 characters, 70 % of what is loaded", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		}, indexEvidence...),
		File: func(p *diagnostics.Pass) {
			if small(p, p.Config.Limits.NearPercent) {
				return
			}
			f := memdir.FillOf(p.Doc.Index, p.Config.IndexRules()[0])
			if f.FirstDropped > 0 || f.Percent < p.Config.Limits.NearPercent {
				return
			}
			p.Report(diagnostics.Finding{
				Span: p.Doc.FirstLine(),
				Message: fmt.Sprintf("The index takes %d %% of what is loaded: %s of %s lines, %s of %s %s. What is past the limit is dropped: shorten entries or merge topics soon.",
					f.Percent, thousands(f.Lines), thousands(f.MaxLines), thousands(f.Size), thousands(f.MaxSize), f.Unit),
			})
		},
	}
}
