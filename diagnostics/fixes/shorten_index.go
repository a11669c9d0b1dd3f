package fixes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	var most amount
	for i := range x.Entries {
		gain, _ := gainOf(x, i, b.rule.Unit, config.Limits.EntryLength)
		most = most.plus(gain)
	}
	if !b.fits(b.total.minus(most), 100) {
		return nil
	}
	return []diagnostics.Offer{{Fix: ShortenIndex, Title: "Move the details of the longest entries into their topics"}}
}

// gainOf gives what the index gets shorter by at least when the details of entry
// number i are moved, and the size of all that the entry takes.
func gainOf(x *memfile.Index, i int, unit memdir.Unit, most int) (gain amount, size int) {
	t, e := x.Text(), &x.Entries[i]
	if !e.List {
		return amount{}, 0
	}
	own := text.Span{Start: e.Span.Start, End: t.Line(e.Line).End}
	end := belowEnd(x, i)
	if end == e.Line+1 && own.Len() <= most || !movable(x, e) {
		return amount{}, own.Len()
	}
	all := strings.TrimRight(t.Slice(text.Span{Start: own.Start, End: t.Line(end - 1).End}), " \t\r\n")
	size = sizeIn(all, unit)
	// What continues a summary comes to stand on its line.
	kept := all[:e.Indent] + memfile.OneLine(all[e.Indent:])
	if utf8.RuneCountInString(kept) > most {
		if !canBeCut(x, e, most) {
			return amount{}, size
		}
		kept = firstRunes(kept, most)
	}
	gain = amount{end - 1 - e.Line, max(size-sizeIn(kept, unit)-len("…"), 0)}
	return gain, size
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
		if gain, size := gainOf(x, i, b.rule.Unit, limit); gain != (amount{}) {
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
