package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func keyDuplicate() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "key-duplicate",
		Severity: diagnostics.Warning,
		Summary:  "A key stands twice in the frontmatter.",
		Kinds:    topics,
		Fixes:    []string{fixes.KeepEffectiveKey},
		Evidence: []diagnostics.Evidence{
			{Claim: "the keys of a mapping are unique; parsers refuse a second one or let the last one win", Source: "YAML 1.2.2, 3.2.1.1", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := closedFront(p)
			if f == nil {
				return
			}
			var first map[string]*memfile.Key
			checked := 0
			for _, problem := range f.Problems {
				if problem.Code != memfile.DuplicateKey {
					continue
				}
				if first == nil {
					first, _ = keysByPath(f)
				}
				found := diagnostics.Finding{Span: problem.Span}
				if found.Span.Len() == 0 { // a key without a value: its name is what there is to show
					found.Span = valueOrName(f, found.Span.Start)
				}
				k := first[problem.Key]
				mend := "Keep one."
				if problem.Key == memfile.MetadataKey {
					mend = "Put the keys below both of them into one."
				}
				found.Message = fmt.Sprintf("The key %s stands here again, after line %d; readers take the last one, or none of the file. %s",
					memdir.ShownName(problem.Key), f.Text.LineAt(k.Span.Start)+1, mend)
				at := k.Span
				at.Start += k.Indent
				at.End = f.Text.Line(f.Text.LineAt(at.Start)).End
				found.Related = []diagnostics.Related{{Path: p.Doc.Path, Span: at, Message: "the first one"}}
				if checked++; checked <= offersChecked && len(f.Front.Keys) <= keysChecked {
					found.Offers = fixes.OfferEffective(f, problem)
				}
				p.Report(found)
			}
		},
	}
}
