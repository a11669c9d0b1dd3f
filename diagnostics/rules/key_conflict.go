package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func keyConflict() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "key-conflict",
		Severity: diagnostics.Warning,
		Summary:  "A key has one value at the top level and another below metadata.",
		Kinds:    topics,
		Fixes:    []string{fixes.KeepEffectiveKey},
		Evidence: []diagnostics.Evidence{
			{Claim: "both forms are in use, and the client moves keys below metadata", Source: "observed", Client: client, Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := closedFront(p)
			if f == nil {
				return
			}
			var last map[string]*memfile.Key
			checked := 0
			for _, problem := range f.Problems {
				if problem.Code != memfile.KeyConflict {
					continue
				}
				if last == nil {
					_, last = keysByPath(f)
				}
				top, below := last[problem.Key], last[memfile.MetadataKey+"."+problem.Key]
				found := diagnostics.Finding{Span: problem.Span}
				if found.Span.Len() == 0 {
					found.Span = valueOrName(f, found.Span.Start)
				}
				found.Message = fmt.Sprintf("%s is %q here and %q below %s, which is what readers take. Keep one.", memdir.ShownName(problem.Key),
					memdir.Shown(top.Value, 40), memdir.Shown(below.Value, 40), memfile.MetadataKey)
				found.Related = []diagnostics.Related{{Path: p.Doc.Path, Span: below.Raw, Message: "the one below " + memfile.MetadataKey}}
				if checked++; checked <= offersChecked && len(f.Front.Keys) <= keysChecked {
					found.Offers = fixes.OfferEffective(f, problem)
				}
				p.Report(found)
			}
		},
	}
}
