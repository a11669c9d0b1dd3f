package fixes

import (
	"context"
	"errors"
	"strings"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveFrontmatter is the ID of the fix.
const RemoveFrontmatter = "remove-frontmatter"

func removeFrontmatter() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveFrontmatter,
		Summary: "Removes frontmatter that no reader loads.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			front := d.File.Front
			if front == nil || !front.Closed {
				return change.Change{}, errors.New("the file has no frontmatter any more")
			}
			gone := front.Span
			rest := d.Source()[gone.End:]
			gone.End += len(rest) - len(strings.TrimLeft(rest, "\r\n")) // the blank lines that set it off
			return edit(f.Path, f.Text, text.Edit{Span: gone})
		},
	}
}
