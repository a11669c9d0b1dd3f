package fixes

import (
	"context"
	"errors"
	"strings"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveComment is the ID of the fix.
const RemoveComment = "remove-comment"

func removeComment() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveComment,
		Summary: "Removes a comment that no reader loads.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			if c := f.Text.Slice(f.Span); !strings.HasPrefix(c, "<!--") || !strings.HasSuffix(c, "-->") {
				return change.Change{}, errors.New("no comment stands here any more")
			}
			return edit(f.Path, f.Text, text.Edit{Span: withLines(f.Text, f.Span)})
		},
	}
}

// withLines widens a span that is removed to whole lines where nothing else stands
// on them, and to the blank line below where one stands above as well, or nothing.
func withLines(t *text.Text, s text.Span) text.Span {
	first, last := t.LineAt(s.Start), t.LineAt(max(s.End-1, s.Start))
	start, end := t.FullLine(first).Start, t.FullLine(last)
	if first == 0 && t.HasBOM() {
		start = len(text.BOM)
	}
	if strings.TrimSpace(t.String()[start:s.Start]) != "" || strings.TrimSpace(t.String()[s.End:end.End]) != "" {
		return s
	}
	blank := func(i int) bool { return strings.TrimSpace(strings.TrimPrefix(t.Slice(t.FullLine(i)), text.BOM)) == "" }
	wide := text.Span{Start: start, End: end.End}
	if last+1 < t.Lines() && blank(last+1) && (first == 0 || blank(first-1)) {
		wide.End = t.FullLine(last + 1).End
	}
	return wide
}
