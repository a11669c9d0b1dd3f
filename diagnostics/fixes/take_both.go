package fixes

import (
	"mem/core/agentmem"
	"mem/diagnostics"
)

// TakeBoth is the ID of the fix.
const TakeBoth = "take-both"

func takeBoth() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      TakeBoth,
		Summary: "Keeps the section as it is here, with the team's text below.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Make:    take(agentmem.TakeBoth),
	}
}
