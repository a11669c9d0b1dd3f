package fixes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// ShortenIndex is the ID of the fix.
const ShortenIndex = "shorten-index"

// shortenedPercent is how much of a limit the index takes at most when it has been
// shortened, so that the next entry does not fill it again.
const shortenedPercent = 95

func shortenIndex() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      ShortenIndex,
		Summary: "Moves the details of the longest entries into their topics until the index is loaded whole.",
		Safe:    true,
		Kind:    diagnostics.Extract,
		Make: func(ctx context.Context, s *diagnostics.Snapshot, _ diagnostics.Finding, _ string) (change.Change, error) {
			return shortened(ctx, s)
		},
	}
}

// shortenOffers gives the offer to shorten the index where moving details suffices.
func shortenOffers(x *memfile.Index, config *diagnostics.Config, b budget) []diagnostics.Offer {
	ends := make([]int, len(x.Entries)) // see belowEnd
	lines := 0
	for i := range x.Entries {
		ends[i] = belowEnd(x, i)
		lines += ends[i] - 1 - x.Entries[i].Line
	}
	if b.total.lines-lines > b.rule.Lines {
		return nil // whatever is moved
	}
	left := b.total
	for i := range x.Entries {
		gain, _ := gainOf(x, i, ends[i], b.rule.Unit, config.Limits.EntryLength)
		if left = left.minus(gain); b.fits(left, 100) {
			return []diagnostics.Offer{{Fix: ShortenIndex, Title: "Move the details of the longest entries into their topics"}}
		}
	}
	return nil
}

// gainOf gives what the index gets shorter by at least when the details of entry
// number i are moved, and the size of all that the entry takes up to the line end.
func gainOf(x *memfile.Index, i, end int, unit memdir.Unit, most int) (gain amount, size int) {
	t, e := x.Text(), &x.Entries[i]
	own := text.Span{Start: e.Span.Start, End: t.Line(e.Line).End}
	if !e.List || end == e.Line+1 && own.Len() <= most || !movable(x, e) {
		return amount{}, 0
	}
	all := strings.TrimRight(t.Slice(text.Span{Start: own.Start, End: t.Line(end - 1).End}), " \t\r\n")
	size = sizeIn(all, unit)
	kept, whole := foldedStart(all, most, unit)
	if !whole && !canBeCut(x, e, most) {
		return amount{}, size
	}
	return amount{end - 1 - e.Line, max(size-kept-len("…"), 0)}, size
}

// foldedStart gives the size of the first most characters of lines that are folded
// into one, and whether that is all of them.
func foldedStart(s string, most int, unit memdir.Unit) (size int, whole bool) {
	n, space := 0, false
	for _, r := range s {
		if r == ' ' || r == '\t' || r == '\r' || r == '\n' {
			space = true
			continue
		}
		if space {
			n, size, space = n+1, size+1, false
		}
		if n >= most {
			return size, false
		}
		n, size = n+1, size+runeSize(r, unit)
	}
	return size, true
}

func runeSize(r rune, unit memdir.Unit) int {
	if unit == memdir.UTF16 {
		return max(utf16.RuneLen(r), 1)
	}
	return utf8.RuneLen(r)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func shortened(ctx context.Context, s *diagnostics.Snapshot) (change.Change, error) {
	x, limit := s.View.Index, s.Config.Limits.EntryLength
	b := budgetOf(x, s.Config)
	type candidate struct{ entry, size int }
	var longest []candidate
	for i := range x.Entries {
		if gain, size := gainOf(x, i, belowEnd(x, i), b.rule.Unit, limit); gain != (amount{}) {
			longest = append(longest, candidate{i, size})
		}
	}
	slices.SortStableFunc(longest, func(a, b candidate) int { return cmp.Compare(b.size, a.size) })
	topics, left := newTopicTexts(s), b.total
	var edits []text.Edit
	var last error
	for _, l := range longest {
		if b.fits(left, shortenedPercent) {
			break
		}
		if ctx.Err() != nil {
			return change.Change{}, ctx.Err()
		}
		d := detailsOf(x, l.entry)
		c, ok := d.cut(limit)
		if !ok {
			continue
		}
		gain := gainBy(x, c.edits, b.rule.Unit)
		if !b.helps(left, gain) {
			continue
		}
		if err := topics.take(d.entry, c); err != nil {
			last = err
			continue
		}
		edits, left = append(edits, c.edits...), left.minus(gain)
	}
	after, ok := text.Apply(x.Text().String(), edits)
	if !ok || len(edits) == 0 || !b.fits(budgetOf(memfile.ParseIndex(after), s.Config).total, 100) {
		if last != nil {
			return change.Change{}, fmt.Errorf("the details that can be moved do not suffice; one topic cannot take its own: %w", last)
		}
		return change.Change{}, fmt.Errorf("moving details does not suffice to bring the index to %d lines and %d %s: move a section into a topic", b.rule.Lines, b.rule.Size, b.rule.Unit)
	}
	index, err := edit(memfile.IndexName, x.Text(), edits...)
	if err != nil {
		return change.Change{}, err
	}
	return change.Change{Files: append(topics.files(), index.Files...)}, nil
}

// gainBy gives what edits of the index take away from it.
func gainBy(x *memfile.Index, edits []text.Edit, unit memdir.Unit) amount {
	var g amount
	for _, e := range edits {
		old := text.WithEOL(x.Text().Slice(e.Span), "\n")
		g.lines += strings.Count(old, "\n") - strings.Count(e.New, "\n")
		g.size += sizeIn(old, unit) - sizeIn(e.New, unit)
	}
	return g
}
