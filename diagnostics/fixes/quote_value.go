package fixes

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// QuoteValue is the ID of the fix.
const QuoteValue = "quote-value"

func quoteValue() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      QuoteValue,
		Summary: "Quotes a value of the frontmatter.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			e, ok := quoteEdit(d.File, f.Span)
			if at, cut := CutByComment(d.File); cut && at == f.Span {
				e, ok = commentEdit(d.File, at)
			}
			if !ok {
				return change.Change{}, errors.New("the value cannot be quoted as it stands; write it on one line first")
			}
			return edit(f.Path, d.File.Text, e)
		},
	}
}

// OfferQuote offers the fix for a value that stands at a span.
func OfferQuote(f *memfile.File, value text.Span) []diagnostics.Offer {
	if _, ok := quoteEdit(f, value); !ok {
		return nil
	}
	return []diagnostics.Offer{{Fix: QuoteValue, Title: "Put the value in double quotes"}}
}

// CutByComment gives the description as it is written, where it is plain text with a
// "#" in it: behind white space that begins a comment, and readers miss the rest. Of
// the other keys no value holds one, so behind them it is a comment in earnest.
func CutByComment(f *memfile.File) (text.Span, bool) {
	k := f.Key("description")
	if k == nil || k.Raw.Len() == 0 || hasProblem(f, memfile.Syntax) {
		return text.Span{}, false
	}
	raw, line := f.Text.Slice(k.Raw), f.Text.Line(f.Text.LineAt(k.Raw.Start))
	if strings.Contains(raw, "\n") || strings.IndexByte("'\"|>[{&*!", raw[0]) >= 0 {
		return text.Span{}, false
	}
	all := text.Span{Start: k.Raw.Start, End: line.Start + len(strings.TrimRight(f.Text.Slice(line), " \t"))}
	if all.End <= k.Raw.End || strings.Trim(f.Text.String()[k.Raw.End:all.End], "# \t") == "" {
		return text.Span{}, false
	}
	return all, true
}

// OfferQuoteComment offers to quote such a description.
func OfferQuoteComment(f *memfile.File, at text.Span) []diagnostics.Offer {
	if _, ok := commentEdit(f, at); !ok {
		return nil
	}
	return []diagnostics.Offer{{Fix: QuoteValue, Title: "Put the value in double quotes"}}
}

func commentEdit(f *memfile.File, at text.Span) (text.Edit, bool) {
	v := f.Text.Slice(at)
	return text.Edit{Span: at, New: memfile.Scalar(v)}, utf8.ValidString(v) && memfile.Scalar(v) != v
}

// quoteEdit writes a value so that a YAML parser reads what the lenient reader
// read. A plain one that goes on below its key is put on one line, as a parser
// would have folded it.
func quoteEdit(f *memfile.File, value text.Span) (text.Edit, bool) {
	k := keyAt(f, value)
	if k == nil || k.Raw.Len() == 0 || !hasProblem(f, memfile.Syntax) || !utf8.ValidString(k.Value) || endUnsure(f) {
		return text.Edit{}, false
	}
	raw, v := f.Text.Slice(k.Raw), k.Value
	if strings.Contains(raw, "\n") {
		if !Foldable(f, k) {
			return text.Edit{}, false
		}
		v = memfile.OneLine(v)
	}
	e := valueEdit(f.Text, k, len(raw), memfile.Scalar(v))
	return e, strings.TrimSpace(e.New) != raw
}

// Foldable reports whether the value of a key is plain text that starts behind it,
// goes on below, and is no YAML. Lines below that look like keys or items are
// not taken for text: they may only be indented by mistake.
func Foldable(f *memfile.File, k *memfile.Key) bool {
	raw := f.Text.Slice(k.Raw)
	first, below, more := strings.Cut(raw, "\n")
	if !more || first == "" || strings.IndexByte("\r\"'|>[{&*!#", raw[0]) >= 0 || valueLen(raw) < len(raw) || isScalar(f, k) {
		return false
	}
	for l := range strings.Lines(below) {
		l = strings.TrimSpace(l)
		if _, _, key := cutKey(l); key || strings.HasPrefix(l, "- ") {
			return false
		}
	}
	return true
}
