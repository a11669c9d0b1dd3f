package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func frontmatterSyntax() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-syntax",
		Severity: diagnostics.Error,
		Summary:  "The frontmatter is not YAML that a strict reader accepts.",
		Kinds:    topics,
		Fixes:    []string{fixes.QuoteValue, fixes.CloseFrontmatter},
		Evidence: []diagnostics.Evidence{
			{Claim: `3 in 100 memory files fail a strict YAML parser: 67 of 77 by an unquoted ": " in a value, 7 by a value that starts with a backtick or "@", 3 by text behind a closing quote`,
				Source: "4,039 files of 137 public repositories", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := closedFront(p)
			if f == nil {
				return
			}
			if at, ok := fixes.CutByComment(f); ok {
				p.Report(diagnostics.Finding{
					Severity: diagnostics.Warning,
					Span:     at,
					Message:  fmt.Sprintf(`A "#" behind white space begins a comment, so readers take %s for the whole description. Put the value in double quotes.`, memdir.ShownName(f.Value("description"))),
					Offers:   fixes.OfferQuoteComment(f, at),
				})
			}
			for _, problem := range f.Problems {
				if problem.Code != memfile.Syntax {
					continue
				}
				found := diagnostics.Finding{Span: problem.Span, Message: sentence(problem.Message), Offers: fixes.OfferQuote(f, problem.Span)}
				if k := foldedValue(f, problem); k != nil {
					found = diagnostics.Finding{Span: k.Raw, Offers: fixes.OfferQuote(f, k.Raw),
						Message: fmt.Sprintf("The value of %q is not valid YAML. Put it on one line, in double quotes.", memdir.Shown(k.Path(), 80))}
				}
				if closing := fixes.OfferClose(f); found.Offers == nil && closing != nil {
					found.Offers = closing
					found.Message = `Text follows the keys: it seems that the closing fence was forgotten, and that a rule of the body is taken for it. Add a line "---" after the last key.`
				}
				p.Report(found)
			}
		},
	}
}

// foldedValue gives the key of a plain value of several lines that is no YAML by
// itself, which parsing places on one of its lines; else nil.
func foldedValue(f *memfile.File, problem memfile.Problem) *memfile.Key {
	if problem.Key == "" {
		return nil
	}
	for i := range f.Front.Keys {
		k := &f.Front.Keys[i]
		if k.Path() == problem.Key && k.Span.Start <= problem.Span.Start && problem.Span.Start < k.Span.End && k.Raw != problem.Span &&
			fixes.Foldable(f, k) {
			return k
		}
	}
	return nil
}
