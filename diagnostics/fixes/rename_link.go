package fixes

import (
	"context"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RenameLink is the ID of the fix. Its argument is the name to write. What the link
// shows behind "|", and the heading behind "#", stay.
const RenameLink = "rename-link"

func renameLink() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RenameLink,
		Summary: "Lets a [[name]] name the topic with the nearest name.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			return edit(f.Path, f.Text, text.Edit{Span: f.Span, New: arg})
		},
	}
}
