package fixes

import (
	"context"
	"errors"
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveDuplicate is the ID of the fix.
const RemoveDuplicate = "remove-duplicate"

func removeDuplicate() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveDuplicate,
		Summary: "Removes an entry that an earlier one says as well.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			x := s.View.Index
			i := entryAt(x, f.Span.Start)
			if i < 0 {
				return change.Change{}, errors.New("no entry stands here any more")
			}
			for was := range i {
				if x.Entries[was].List && x.Entries[was].Target == x.Entries[i].Target && SaysNothingNew(x, was, i) {
					return edit(memfile.IndexName, x.Text(), text.Edit{Span: withoutEnd(x.Text(), x.Entries[i].Span)})
				}
			}
			return change.Change{}, errors.New("no earlier entry says all that this one says")
		},
	}
}

// withoutEnd widens the removal of the last lines of a text that does not end with
// a newline, so that it still does not.
func withoutEnd(t *text.Text, s text.Span) text.Span {
	if s.End < t.Len() || s.Start == 0 || strings.HasSuffix(t.String(), "\n") {
		return s
	}
	s.Start = t.Line(t.LineAt(s.Start - 1)).End
	return s
}

// SaysNothingNew reports whether all words of entry number i of an index stand in
// the earlier entry of the same topic, white space and case aside. What stands
// below the entry is something new, unless it goes on with its summary.
func SaysNothingNew(x *memfile.Index, was, i int) bool {
	t, e := x.Text(), &x.Entries[i]
	below := t.LineAt(e.Span.End-1) + 1
	if belowEnd(x, i) > below {
		return false
	}
	if below < t.Lines() { // text that goes on at the margin
		if next := strings.TrimLeft(t.Slice(t.Line(below)), " \t"); next != "" && strings.IndexByte("#>-*+|`~<0123456789", next[0]) < 0 {
			return false
		}
	}
	for ; below < t.Lines(); below++ { // other entries, which would come to stand below another item
		next := t.Slice(t.Line(below))
		if text := strings.TrimLeft(next, " \t"); text != "" {
			if columns(next[:len(next)-len(text)]) > indentOf(x, e) {
				return false
			}
			break
		}
	}
	if x.Entries[was].Title == e.Title && x.Entries[was].Summary == e.Summary && beforeLink(x, was) == beforeLink(x, i) {
		return true
	}
	have := entryWords(x, was)
	all := strings.Join(have[:], " ")
	for _, words := range entryWords(x, i) {
		if !says(all, strings.TrimRight(words, " .,;:!。，；")) {
			return false
		}
	}
	return true
}

// entryWords gives what an entry says, folded: before its link, as its title, as its
// summary.
func entryWords(x *memfile.Index, i int) [3]string {
	e := &x.Entries[i]
	fold := func(s string) string { return strings.Trim(strings.ToLower(s), "*_ ") }
	return [3]string{fold(memfile.OneLine(beforeLink(x, i))), fold(e.Title), fold(e.Summary)}
}

// beforeLink gives what stands between the list mark of an entry and its link.
func beforeLink(x *memfile.Index, i int) string {
	e := &x.Entries[i]
	before := x.Text().String()[e.Span.Start+e.Indent : e.Link.Span.Start]
	return before[strings.IndexAny(before, " \t")+1:]
}
