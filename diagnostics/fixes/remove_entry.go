package fixes

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveEntry is the ID of the fix. Its argument is the path that the entry links.
const RemoveEntry = "remove-entry"

func removeEntry() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveEntry,
		Summary: "Removes an entry of the index; a line of a table or of prose keeps its words.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			x := s.View.Index
			i := entryAt(x, f.Span.Start)
			if i < 0 || x.Entries[i].Target != arg {
				return change.Change{}, errors.New("the entry is no longer there")
			}
			e := x.Entries[i]
			var own []text.Edit
			if e.Link.Dest == f.Span || e.List && e.Span.Start+e.Indent == f.Span.Start { // its link is found, or all of it
				for _, gone := range x.Remove(arg) { // every entry of the path
					if gone.Start < e.Span.End && e.Span.Start < gone.End {
						own = append(own, gone)
					}
				}
			}
			if len(own) == 0 {
				return change.Change{}, errors.New("the entry is no longer there")
			}
			return edit(memfile.IndexName, x.Text(), own...)
		},
	}
}
