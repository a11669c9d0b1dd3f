package fixes

import "mem/diagnostics"

// RedactSecret is the ID of the fix.
const RedactSecret = "redact-secret"

func redactSecret() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RedactSecret,
		Summary: "Puts a mark in place of a secret.",
		Kind:    diagnostics.QuickFix,
	}
}
