package guard

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"

	"mem/core/text"
)

// maxPrefix is how much of a secret is shown at most, in bytes: the longest prefixes of issuers ("sk-ant-api03-",
// 13) are more than a reader needs to recognise which one is meant.
const maxPrefix = 14

// minRepeat is how long a secret must be for Redact to remove its other occurrences too, in bytes: a short one may be
// an ordinary word elsewhere.
const minRepeat = 10

// Redact returns content with every secret replaced by "[redacted <rule>]", and what Scan says of content. A secret is
// removed wherever it occurs, also where nothing around it would give it away. Parts that could not be searched are
// removed too. Hidden characters stay. Text without secrets is returned as it is.
func (s *Scanner) Redact(content []byte) ([]byte, []Finding) {
	found := s.Scan(content)
	edits := Redactions(content, found)
	if len(edits) == 0 {
		return content, found
	}
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, content[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(out, content[at:]...), found
}

// Redactions gives the edits that Redact makes for some of the findings in content, ordered and without overlap: the
// secrets among them wherever they occur, and the parts that could not be searched.
func Redactions(content []byte, found []Finding) []text.Edit {
	type cut struct {
		span
		rule string
	}
	var cuts []cut
	for _, f := range found {
		switch f.Kind {
		case KindSecret:
			cuts = append(cuts, cut{span{f.Start, f.End}, f.Rule})
			secret := content[f.Start:f.End]
			if len(secret) < minRepeat {
				continue
			}
			for at := 0; ; {
				n := bytes.Index(content[at:], secret)
				if n < 0 {
					break
				}
				cuts = append(cuts, cut{span{at + n, at + n + len(secret)}, f.Rule})
				at += n + len(secret)
			}
		case KindIncomplete:
			if f.Rule != HiddenTooMany {
				cuts = append(cuts, cut{span{f.Start, f.End}, f.Rule})
			}
		}
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.start - b.start })
	var edits []text.Edit
	for _, c := range cuts {
		if n := len(edits); n > 0 && c.start < edits[n-1].End {
			edits[n-1].End = max(edits[n-1].End, c.end) // overlapping secrets share one mark
			continue
		}
		edits = append(edits, text.Edit{Span: text.Span{Start: c.start, End: c.end}, New: "[redacted " + c.rule + "]"})
	}
	return edits
}

// redacted shows of the secret only what the rule demands of every secret, such as "ghp_".
func redacted(pattern, secret string) string {
	const mark = "…[redacted]"
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return mark
	}
	prefix, _ := literalPrefix(firstGroup(tree))
	if len(prefix) > maxPrefix || !strings.HasPrefix(secret, prefix) {
		return mark
	}
	return prefix + mark
}

// firstGroup returns the first capture of an expression, or all of it.
func firstGroup(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re.Sub[0]
	}
	for _, sub := range re.Sub {
		if g := firstGroup(sub); g != sub {
			return g
		}
	}
	return re
}

// literalPrefix returns what every match begins with, and whether that is the whole expression.
func literalPrefix(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase == 0
	case syntax.OpCapture:
		return literalPrefix(re.Sub[0])
	case syntax.OpWordBoundary, syntax.OpEmptyMatch:
		return "", true
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			s, whole := literalPrefix(sub)
			b.WriteString(s)
			if !whole {
				break
			}
		}
		return b.String(), false
	}
	return "", false
}
