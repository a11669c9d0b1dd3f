package rules

import (
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func descriptionMultiline() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "description-multiline",
		Severity: diagnostics.Information,
		Summary:  "A description takes more than one line.",
		Kinds:    topics,
		Fixes:    []string{fixes.JoinDescription},
		Evidence: []diagnostics.Evidence{
			{Claim: "the description is one line", Source: "seed 24.1", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil {
				return
			}
			k := f.Key("description")
			if k == nil || k.Value == "" || !fixes.Multiline(f, k) {
				return
			}
			for _, problem := range f.Problems {
				if problem.Code == memfile.Syntax {
					return // which lines are the value's is not known yet
				}
			}
			p.Report(diagnostics.Finding{
				Span:    k.Raw,
				Message: "The description takes more than one line; a reader that goes line by line sees only the first. Put it on one line.",
				Offers:  fixes.OfferJoin(f),
			})
		},
	}
}
