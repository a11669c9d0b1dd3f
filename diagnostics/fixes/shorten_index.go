package fixes

import "mem/diagnostics"

// ShortenIndex is the ID of the fix.
const ShortenIndex = "shorten-index"

func shortenIndex() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      ShortenIndex,
		Summary: "Moves the details of the longest entries into their topics until the index is loaded whole.",
		Safe:    true,
		Kind:    diagnostics.Extract,
	}
}
