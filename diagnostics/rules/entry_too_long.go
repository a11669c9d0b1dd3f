package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func entryTooLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "entry-too-long",
		Severity: diagnostics.Information,
		Summary:  "An entry of the index is longer than one line that is read at a glance.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Fixes:    []string{fixes.MoveDetails},
		Evidence: []diagnostics.Evidence{
			{Claim: "an entry is one line of at most 150 characters", Source: "seed 24.1", Checked: "2026-11-30"},
			{Claim: "the client's own generator writes at most 150 characters a line", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			x, most := p.Doc.Index, p.Config.Limits.EntryLength
			t := x.Text()
			glance := fmt.Sprintf(" characters; one line of at most %d is read at a glance.", most)
			for i := range x.Entries {
				e := &x.Entries[i]
				line := text.Span{Start: e.Span.Start, End: t.Line(e.Line).End}
				if !e.List || line.Len() <= most {
					continue
				}
				l := strings.TrimRight(t.Slice(line), " \t")
				past, n := pastRunes(l, most)
				if n <= most {
					continue
				}
				f := diagnostics.Finding{Span: text.Span{Start: line.Start + past, End: line.Start + len(l)}}
				f.Message = "This entry has " + thousands(n) + glance
				if o, ok := fixes.MoveDetailsOffer(x, e, most); ok {
					f.Offers = []diagnostics.Offer{o}
					f.Message += " " + o.Title + "."
				} else {
					f.Message += " Shorten it."
				}
				p.Report(f)
			}
		},
	}
}

// pastRunes gives the offset behind the first most characters of s, and how many
// there are in all.
func pastRunes(s string, most int) (offset, n int) {
	offset = len(s)
	for i := range s {
		if n == most {
			offset = i
			return offset, n + utf8.RuneCountInString(s[i:])
		}
		n++
	}
	return offset, n
}
