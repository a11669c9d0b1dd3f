package fixes

import (
	"context"
	"strings"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveParagraph is the ID of the fix.
const RemoveParagraph = "remove-paragraph"

func removeParagraph() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveParagraph,
		Summary: "Removes a paragraph that is said elsewhere.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			return edit(f.Path, f.Text, text.Edit{Span: withoutParagraph(f.Text, d.File.Body, f.Span)})
		},
	}
}

// withoutParagraph gives the lines of a paragraph and one of the blank lines that
// part it from others: the one behind it, or where it is the last the one before.
func withoutParagraph(t *text.Text, body, paragraph text.Span) text.Span {
	first, last := t.LineAt(paragraph.Start), t.LineAt(max(paragraph.Start, paragraph.End-1))
	cut := text.Span{Start: max(body.Start, t.FullLine(first).Start), End: t.FullLine(last).End}
	blank := func(line int) bool {
		return line >= 0 && line < t.Lines() && strings.TrimSpace(t.Slice(t.Line(line))) == ""
	}
	starts := cut.Start <= body.Start
	switch {
	case blank(last+1) && (starts || blank(first-1)):
		cut.End = t.FullLine(last + 1).End
	case last+1 >= t.Lines() && !starts && blank(first-1) && t.FullLine(first-1).Start >= body.Start:
		cut.Start = t.FullLine(first - 1).Start
	}
	return cut
}
