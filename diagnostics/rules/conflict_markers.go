package rules

import (
	"fmt"
	"strings"

	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

func conflictMarkers() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "conflict-markers",
		Severity: diagnostics.Error,
		Summary:  "A file holds the marks of a merge conflict.",
		Kinds:    diagnostics.AllKinds,
		Evidence: []diagnostics.Evidence{
			{Claim: "git writes both sides of a conflict into the file, between lines of seven \"<\", \"=\" and \">\"", Source: "git documentation", Client: "git 2.39", Checked: "2026-11-30"},
			{Claim: "conflict marks that are quoted in a fence are no conflict", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			src := p.Doc.Source()
			// A conflict has all three; hardly any other file has the last one.
			if !strings.Contains(src, "\n>>>>>>> ") || !strings.Contains(src, "<<<<<<< ") || !strings.Contains(src, "\n=======") {
				return
			}
			for _, c := range conflicts(p.Doc.File.Text, p.Doc.Outline().Code) {
				t := p.Doc.File.Text
				ours := t.Line(c.ours)
				if c.ours == 0 {
					ours = p.Doc.FirstLine()
				}
				p.Report(diagnostics.Finding{
					Span: ours,
					Message: fmt.Sprintf("A merge left both of its sides here, down to line %d, and a reader takes both for true. "+
						"Keep what is right and remove the lines of marks.", c.end+1),
					Related: []diagnostics.Related{
						{Path: p.Doc.Path, Span: t.Line(c.theirs), Message: "The other side begins here."},
						{Path: p.Doc.Path, Span: t.Line(c.end), Message: "The conflict ends here."},
					},
				})
			}
		},
	}
}

// conflict holds the lines of the marks of one conflict.
type conflict struct{ ours, theirs, end int }

// conflicts finds the groups of marks that stand in order. A line of "=" alone
// underlines a heading.
func conflicts(t *text.Text, code []text.Span) []conflict {
	var all []conflict
	now := conflict{ours: -1, theirs: -1}
	src := t.String()
	for at, line := 0, 0; at < len(src); line++ {
		end := strings.IndexByte(src[at:], '\n')
		if end < 0 {
			end = len(src) - at
		}
		l := src[at : at+end]
		start := at
		at += end + 1
		if line == 0 {
			l = strings.TrimPrefix(l, text.BOM)
		}
		if len(l) < 7 || strings.IndexByte("<|=>", l[0]) < 0 {
			continue
		}
		mark := conflictMark(strings.TrimSuffix(l, "\r"))
		if mark == 0 || memfile.In(code, start) {
			continue
		}
		switch {
		case mark == '<':
			now = conflict{ours: line, theirs: -1}
		case now.ours < 0:
		case mark == '=' && now.theirs < 0:
			now.theirs = line
		case mark == '>' && now.theirs >= 0:
			now.end = line
			all = append(all, now)
			now = conflict{ours: -1, theirs: -1}
		}
	}
	return all
}

// conflictMark gives the character of the mark that a line is, 0 where it is none.
func conflictMark(l string) byte {
	c := l[0]
	if strings.Count(l[:7], l[:1]) != 7 || len(l) > 7 && l[7] != ' ' || c != '=' && len(l) == 7 {
		return 0
	}
	return c
}
