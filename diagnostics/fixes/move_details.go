package fixes

import "mem/diagnostics"

// MoveDetails is the ID of the fix.
const MoveDetails = "move-details"

func moveDetails() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      MoveDetails,
		Summary: "Moves the details of an entry into its topic; the entry keeps title, link and a short summary.",
		Kind:    diagnostics.Extract,
	}
}
