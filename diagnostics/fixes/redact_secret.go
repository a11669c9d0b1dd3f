package fixes

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/guard"
	"mem/diagnostics"
)

// RedactSecret is the ID of the fix. Its argument is the guard's rule, which the mark
// names.
const RedactSecret = "redact-secret"

var guardRule = compiled(`^[a-z0-9-]{1,60}$`)

func redactSecret() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RedactSecret,
		Summary: "Puts a mark in place of a secret, wherever it stands in the file.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			if !guardRule().MatchString(arg) {
				return change.Change{}, errors.New("the rule that found the secret is missing")
			}
			found := guard.Finding{Kind: guard.KindSecret, Rule: arg, Start: f.Span.Start, End: f.Span.End}
			return edit(f.Path, f.Text, guard.Redactions([]byte(f.Text.String()), []guard.Finding{found})...)
		},
	}
}
