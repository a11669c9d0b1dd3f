package fixes

import "mem/diagnostics"

// KeepMine is the ID of the fix.
const KeepMine = "keep-mine"

func keepMine() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      KeepMine,
		Summary: "Keeps what is here, and remembers that.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Command: diagnostics.KeepMine,
	}
}
