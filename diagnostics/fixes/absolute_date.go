package fixes

import "mem/diagnostics"

// AbsoluteDate is the ID of the fix.
const AbsoluteDate = "absolute-date"

func absoluteDate() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      AbsoluteDate,
		Summary: "Writes a date in full.",
		Kind:    diagnostics.QuickFix,
	}
}
