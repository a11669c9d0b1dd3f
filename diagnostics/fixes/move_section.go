package fixes

import "mem/diagnostics"

// MoveSection is the ID of the fix.
const MoveSection = "move-section"

func moveSection() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      MoveSection,
		Summary: "Moves a section of the index into a topic and links it.",
		Kind:    diagnostics.Extract,
	}
}
