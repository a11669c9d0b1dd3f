package fixes

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

// MoveDetails is the ID of the fix.
const MoveDetails = "move-details"

func moveDetails() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      MoveDetails,
		Summary: "Moves the details of an entry into its topic; the entry keeps title, link and a short summary.",
		Kind:    diagnostics.Extract,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			x := s.View.Index
			i := entryAt(x, f.Span.Start)
			if i < 0 || !movable(x, &x.Entries[i]) {
				return change.Change{}, errors.New("no entry of a topic stands here any more")
			}
			d := detailsOf(x, i)
			c, ok := d.cut(s.Config.Limits.EntryLength)
			if !ok {
				return change.Change{}, fmt.Errorf("what has to stay of the line is longer than %d characters: shorten title and path", s.Config.Limits.EntryLength)
			}
			topics := newTopicTexts(s)
			if err := topics.take(d.entry, c); err != nil {
				return change.Change{}, err
			}
			index, err := edit(memfile.IndexName, x.Text(), c.edits...)
			if err != nil {
				return change.Change{}, err
			}
			return change.Change{Files: append(topics.files(), index.Files...)}, nil
		},
	}
}

// MoveDetailsOffer gives the offer to move the details of an entry into its topic,
// and false where that cannot make its line fit.
func MoveDetailsOffer(x *memfile.Index, e *memfile.Entry, most int) (diagnostics.Offer, bool) {
	if !movable(x, e) {
		return diagnostics.Offer{}, false
	}
	if !canBeCut(x, e, most) {
		return diagnostics.Offer{}, false
	}
	return diagnostics.Offer{Fix: MoveDetails, Title: "Move the details into " + memdir.ShownName(e.Target)}, true
}

// canBeCut reports whether what stays of an entry's line at least, up to its last
// link to a topic, leaves room for a mark that something was cut.
func canBeCut(x *memfile.Index, e *memfile.Entry, most int) bool {
	end := e.Link.Span.End
	for i := linkAfter(x, end); i < len(x.Links) && x.Links[i].Span.Start < x.Text().Line(e.Line).End; i++ {
		if p := x.Links[i].Path(); p != "" && memfile.IsMarkdown(p) {
			end = x.Links[i].Span.End
		}
	}
	return utf8.RuneCountInString(x.Text().String()[e.Span.Start:end]) <= most-reserve
}

// reserve is the room, in characters, for what stands between the link and what
// can be cut: marks of emphasis and "…".
const reserve = 6
