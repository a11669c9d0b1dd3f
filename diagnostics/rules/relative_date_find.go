package rules

import (
	"strings"

	"mem/core/text"
)

// mayStart tells which bytes begin a phrase, or end one that is read backwards
// ("ago", "前"): nearly all of a text is passed over by it.
var mayStart = func() (first [256]bool) {
	for _, s := range []string{"today", "yesterday", "last", "next", "in", "ago"} {
		first[s[0]], first[s[0]-0x20] = true, true
	}
	for _, s := range chineseStarts {
		first[s[0]] = true
	}
	return first
}()

// findDated adds the phrases in a part of src to found. Its cost is linear.
func findDated(src string, part text.Span, found []dated) []dated {
	before := len(found)
	for i := part.Start; i < part.End; i++ {
		c := src[i]
		if !mayStart[c] {
			continue
		}
		var d dated
		var ok bool
		switch {
		case c >= 0x80:
			d, ok = chineseAt(src[:part.End], i)
		case i+3 > part.End || !englishStart(src[i:i+3]) || i > 0 && isAlnum(src[i-1]):
			continue
		default:
			d, ok = englishAt(src[:part.End], i)
		}
		if !ok || d.span.Start < part.Start || quoted(src[:d.span.Start], src[d.span.End:part.End]) || dateBeside(src, d.span) || lineIsDated(src, d.span.Start) {
			continue
		}
		if n := len(found); n > 0 && d.span.Start < found[n-1].span.End {
			continue
		}
		found = append(found, d)
		i = max(i, d.span.End-1)
	}
	return withoutSpokenOf(src, found, before)
}

// quoted reports whether what stands between two texts is all that stands between
// quotation marks: a word that is spoken of, such as the name of a filter.
func quoted(before, after string) bool {
	for _, marks := range [][2]string{{"\"", "\""}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"'", "'"}, {"「", "」"}, {"『", "』"}} {
		if strings.HasSuffix(before, marks[0]) && strings.HasPrefix(after, marks[1]) {
			return true
		}
	}
	return false
}

// englishStart reports whether a word of English phrases begins with these three
// bytes; "in" has two, and what is no letter behind them.
func englishStart(s string) bool {
	a, b, c := s[0]|0x20, s[1]|0x20, s[2]|0x20
	switch a {
	case 't':
		return b == 'o' && (c == 'd' || c == 'm' || c == 'n') || b == 'h' && c == 'i'
	case 'i':
		return b == 'n' && !isLetter(c)
	case 'a':
		return b == 'g' && c == 'o'
	case 'l':
		return b == 'a' && c == 's'
	case 'n':
		return b == 'e' && c == 'x'
	}
	return b == 'e' && c == 's'
}

// dateBeside reports whether the date that a phrase means stands behind it in
// brackets, or before it: "today (2026-11-30)", "2026-11-30 (today)".
func dateBeside(src string, s text.Span) bool {
	rest := strings.TrimLeft(src[s.End:min(len(src), s.End+8)], "*_ ,")
	for _, open := range []string{"(", "（", "["} {
		if strings.HasPrefix(rest, open) {
			from := strings.Index(src[s.End:], open) + s.End + len(open)
			return dateAt(strings.TrimLeft(src[from:min(len(src), from+24)], " ")) > 0
		}
	}
	before := strings.TrimRight(src[max(0, s.Start-24):s.Start], " *_")
	for _, open := range []string{"(", "（", "["} {
		if cut, ok := strings.CutSuffix(before, open); ok {
			cut = strings.TrimRight(cut, " ")
			for n := 8; n <= min(len(cut), 18); n++ {
				if dateAt(cut[len(cut)-n:]) >= n-len("日") {
					return true
				}
			}
		}
	}
	return false
}

// maxLabelled is how far from the start of its line a phrase may be for the date
// there to be looked at, in bytes.
const maxLabelled = 4 << 10

// lineIsDated reports whether the line is an entry under a date of its own:
// "- 2026-11-30: fixed today". A date without a colon or dash behind it is only the
// first word of a sentence.
func lineIsDated(src string, offset int) bool {
	from := max(0, offset-maxLabelled)
	line := src[from:offset]
	if n := strings.LastIndexByte(line, '\n'); n >= 0 {
		line = line[n+1:]
	} else if from > 0 {
		return false
	}
	line = strings.TrimLeft(line, "#>*_-+[(| \t")
	n := dateAt(line)
	if n == 0 {
		return false
	}
	line = strings.TrimPrefix(line[n:], "日")
	if len(line) > 0 && line[0] == 'T' || len(line) > 5 && line[0] == ' ' && line[3] == ':' { // a time
		line = strings.TrimLeft(line, "T 0123456789:Z")
		return line != ""
	}
	line = strings.TrimLeft(line, "*_ ")
	for _, mark := range []string{":", "：", "—", "–", "- ", ")", "]", "|"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// maxQuotation is how far from the start of its line a phrase may be for quotation
// marks to be looked at, in bytes.
const maxQuotation = 1 << 10

// inQuotation reports whether a phrase stands with other words between quotation marks
// on its line: what somebody said, or the title of something. A phrase alone in
// quotation marks is only set off.
func inQuotation(src string, s text.Span) bool {
	from := strings.LastIndexByte(src[max(0, s.Start-maxQuotation):s.Start], '\n')
	if from < 0 && s.Start > maxQuotation {
		return false
	}
	before := src[max(0, s.Start-maxQuotation)+from+1 : s.Start]
	behind := src[s.End:min(len(src), s.End+maxQuotation)]
	if n := strings.IndexByte(behind, '\n'); n >= 0 {
		behind = behind[:n]
	}
	for _, q := range [][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"《", "》"}} {
		open, end := strings.LastIndex(before, q[0]), strings.Index(behind, q[1])
		if open < 0 || end < 0 || strings.LastIndex(before, q[1]) > open ||
			q[0] == q[1] && (strings.Count(before, q[0])%2 == 0 || open > 0 && isAlnum(before[open-1])) { // 5" screens
			continue
		}
		if strings.TrimSpace(before[open+len(q[0]):]+strings.TrimRight(behind[:end], ".,!?。，！？")) != "" {
			return true
		}
	}
	return false
}
