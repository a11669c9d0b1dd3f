package fixes

import "mem/diagnostics"

// QuoteValue is the ID of the fix.
const QuoteValue = "quote-value"

func quoteValue() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      QuoteValue,
		Summary: "Quotes a value of the frontmatter.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
	}
}
