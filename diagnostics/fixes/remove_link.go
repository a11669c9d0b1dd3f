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

// RemoveLink is the ID of the fix. Its argument is the path that the entry links.
const RemoveLink = "remove-link"

func removeLink() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveLink,
		Summary: "Takes the link of an entry out of the index and leaves its words.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			x := s.View.Index
			i := entryAt(x, f.Span.Start)
			if i < 0 || x.Entries[i].Target != arg {
				return change.Change{}, errors.New("the entry is no longer there")
			}
			l := x.Entries[i].Link
			words := x.Text().Slice(l.Text)
			if strings.TrimSpace(words) == "" {
				words = x.Text().Slice(l.Dest)
			}
			return edit(memfile.IndexName, x.Text(), text.Edit{Span: l.Span, New: words})
		},
	}
}

// OfferUnlink gives the offers for an entry that cannot stay as it is. The first one
// leaves its words, be there more than its title.
func OfferUnlink(x *memfile.Index, e *memfile.Entry, remove string) []diagnostics.Offer {
	if !e.List {
		return []diagnostics.Offer{{Fix: RemoveEntry, Arg: e.Target, Title: "Take the link out and leave its words"}}
	}
	all := []diagnostics.Offer{{Fix: RemoveEntry, Arg: e.Target, Title: remove}}
	if titleOnly(x, e) {
		return all
	}
	return append([]diagnostics.Offer{{Fix: RemoveLink, Arg: e.Target, Title: "Take the link out and leave its words"}}, all...)
}

// titleOnly reports whether an entry of a list says nothing but its title, in
// which there is no link, and nothing stands below it.
func titleOnly(x *memfile.Index, e *memfile.Entry) bool {
	i := entryAt(x, e.Span.Start)
	return i >= 0 && e.Summary == "" && !strings.Contains(e.Title, "[") && strings.Trim(beforeLink(x, i), "*_ \t") == "" && nothingBelow(x, i)
}
