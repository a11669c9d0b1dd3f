package fixes

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// RemoveCharacters is the ID of the fix.
const RemoveCharacters = "remove-characters"

func removeCharacters() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveCharacters,
		Summary: "Removes characters that a person does not see; where they part two lines, a space stays.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			src := f.Text.String()
			put := ""
			before, _ := utf8.DecodeLastRuneInString(src[:f.Span.Start])
			after, _ := utf8.DecodeRuneInString(src[f.Span.End:])
			// Vertical tab, form feed, next line, line and paragraph separator part words.
			if strings.ContainsAny(f.Text.Slice(f.Span), "\v\f\u0085\u2028\u2029") && isWord(before) && isWord(after) {
				put = " "
			}
			return edit(f.Path, f.Text, text.Edit{Span: f.Span, New: put})
		},
	}
}

func isWord(r rune) bool { return r != utf8.RuneError && !unicode.IsSpace(r) && unicode.IsGraphic(r) }
