package fixes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveIgnore is the ID of the fix.
const RemoveIgnore = "remove-ignore"

func removeIgnore() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveIgnore,
		Summary: "Removes an ignore comment, or one name from it.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			all := d.Ignores()
			i := slices.IndexFunc(all, func(g diagnostics.Ignore) bool { return g.Name == f.Span })
			if i < 0 {
				return change.Change{}, errors.New("there is no ignore comment any more")
			}
			cut := withoutComment(f.Text, all[i].Comment)
			for j, g := range all {
				if j != i && g.Comment == all[i].Comment {
					cut = withoutName(f.Text, all[i])
				}
			}
			return edit(f.Path, f.Text, text.Edit{Span: cut})
		},
	}
}

// withoutComment gives what goes with a comment: its lines where it stands alone,
// else the white space that set it off.
func withoutComment(t *text.Text, comment text.Span) text.Span {
	first, last := t.LineAt(comment.Start), t.LineAt(comment.End-1)
	before := t.Slice(text.Span{Start: t.Line(first).Start, End: comment.Start})
	after := t.Slice(text.Span{Start: comment.End, End: t.Line(last).End})
	blankBefore := strings.Trim(strings.TrimPrefix(before, text.BOM), " \t") == ""
	blankAfter := strings.Trim(after, " \t") == ""
	cut := comment
	switch {
	case blankBefore && blankAfter:
		cut = text.Span{Start: t.FullLine(first).Start, End: t.FullLine(last).End}
		if first == 0 && t.HasBOM() {
			cut.Start += len(text.BOM)
		}
	case blankAfter:
		cut.Start -= len(before) - len(strings.TrimRight(before, " \t"))
		cut.End = t.Line(last).End
	default:
		cut.End += len(after) - len(strings.TrimLeft(after, " \t"))
	}
	return cut
}

// withoutName gives what goes with one of several names: the comma or the white
// space behind it, or before it where it is the last, be there a reason or not.
func withoutName(t *text.Text, g diagnostics.Ignore) text.Span {
	const between = ", \t\r\n"
	cut := g.Name
	behind := t.Slice(text.Span{Start: cut.End, End: g.Comment.End})
	rest := strings.TrimLeft(behind, between)
	reason := false
	for _, mark := range []string{"--", "—", "–", ":"} { // the end of the comment, too
		reason = reason || strings.HasPrefix(rest, mark)
	}
	if rest != "" && !reason {
		cut.End += len(behind) - len(rest)
		return cut
	}
	before := t.Slice(text.Span{Start: g.Comment.Start, End: cut.Start})
	cut.Start -= len(before) - len(strings.TrimRight(before, between))
	return cut
}
