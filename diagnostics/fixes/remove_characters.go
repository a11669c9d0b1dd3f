package fixes

import "mem/diagnostics"

// RemoveCharacters is the ID of the fix.
const RemoveCharacters = "remove-characters"

func removeCharacters() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RemoveCharacters,
		Summary: "Removes characters that a person does not see.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
