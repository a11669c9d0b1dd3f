package fixes

import "mem/diagnostics"

// KeepEffectiveKey is the ID of the fix.
const KeepEffectiveKey = "keep-effective-key"

func keepEffectiveKey() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      KeepEffectiveKey,
		Summary: "Keeps the one of several keys that readers take.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
