package fixes

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// AbsoluteDate is the ID of the fix. Its argument is the date as it is to stand in
// the sentence: "2026-11-30", "in the week of 2026-11-30", "2026-11-30 晚上".
const AbsoluteDate = "absolute-date"

// datePhrase is what an argument may be: words around a year, a month or a day.
var datePhrase = compiled(`^[\p{L} ]{0,30}\d{4}(-\d\d){0,2}[\p{L} ]{0,12}$`)

func absoluteDate() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      AbsoluteDate,
		Summary: "Writes a date in full, counted from the day on which the file was changed last.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			if !datePhrase().MatchString(arg) {
				return change.Change{}, errors.New("the date to write is missing")
			}
			return edit(f.Path, f.Text, text.Edit{Span: f.Span, New: arg})
		},
	}
}
