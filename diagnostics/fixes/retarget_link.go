package fixes

import (
	"context"
	"errors"
	"fmt"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

// RetargetLink is the ID of the fix. Its argument is the path of the topic to link,
// in the memory directory.
const RetargetLink = "retarget-link"

func retargetLink() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RetargetLink,
		Summary: "Lets a link lead to the topic with the nearest name.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			if s.View.Topic(arg) == nil {
				return change.Change{}, fmt.Errorf("%s is no topic of this memory any more", memdir.ShownName(arg))
			}
			d, l, err := linkOf(s, f)
			if err != nil {
				return change.Change{}, err
			}
			return edit(f.Path, d.File.Text, memdir.Retarget(d.File.Text, l, f.Path, arg))
		},
	}
}

// linkOf gives the file of a finding, and the link whose destination it is about.
func linkOf(s *diagnostics.Snapshot, f diagnostics.Finding) (*diagnostics.Doc, memfile.Link, error) {
	d, err := s.Doc(f.Path)
	if err != nil {
		return nil, memfile.Link{}, err
	}
	l, ok := d.LinkAt(f.Span)
	if !ok || l.Wiki {
		return nil, memfile.Link{}, errors.New("the link is no longer there")
	}
	return d, l, nil
}
