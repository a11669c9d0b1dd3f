package rules

import (
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func duplicateEntry() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "duplicate-entry",
		Severity: diagnostics.Warning,
		Summary:  "Two entries of the index lead to the same topic.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Fixes:    []string{fixes.RemoveDuplicate, fixes.RemoveEntry},
		Evidence: []diagnostics.Evidence{
			{Claim: "each entry takes a line of the 200 that are loaded", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			x := p.Doc.Index
			t := x.Text()
			first := make(map[string]int, len(x.Entries)) // by topic and section
			for i := range x.Entries {
				e := &x.Entries[i]
				if !e.List {
					continue
				}
				key := e.Target
				if dest := t.Slice(e.Link.Dest); strings.IndexByte(dest, '#') >= 0 {
					key += dest[strings.IndexByte(dest, '#'):]
				}
				was, again := first[key]
				if !again {
					first[key] = i
					continue
				}
				line := func(line int, start int) text.Span {
					return text.Span{Start: start, End: start + len(strings.TrimRight(t.String()[start:t.Line(line).End], " \t"))}
				}
				before := &x.Entries[was]
				f := diagnostics.Finding{
					Span:    line(e.Line, e.Span.Start+e.Indent),
					Related: []diagnostics.Related{{Path: p.Doc.Path, Span: line(before.Line, before.Span.Start+before.Indent), Message: "The first entry of this topic."}},
				}
				if fixes.SaysNothingNew(x, was, i) {
					f.Message = fmt.Sprintf("Line %d has an entry for %s that says this already. Remove this one.", before.Line+1, memdir.ShownName(e.Target))
					f.Offers = []diagnostics.Offer{{Fix: fixes.RemoveDuplicate, Title: "Remove this entry, which says nothing new"}}
				} else {
					f.Message = fmt.Sprintf("Line %d has an entry for %s already. Put what this one says into that one, and remove it.", before.Line+1, memdir.ShownName(e.Target))
					f.Offers = []diagnostics.Offer{{Fix: fixes.RemoveEntry, Title: "Remove this entry and what it says"}}
				}
				p.Report(f)
			}
		},
	}
}
