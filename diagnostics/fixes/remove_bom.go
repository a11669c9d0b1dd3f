package fixes

import (
	"context"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveBOM is the ID of the fix.
const RemoveBOM = "remove-bom"

func removeBOM() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveBOM,
		Summary: "Removes the byte order mark.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			return edit(f.Path, f.Text, text.Edit{Span: text.Span{End: len(text.BOM)}})
		},
	}
}
