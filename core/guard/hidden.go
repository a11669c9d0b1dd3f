package guard

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// HiddenTooMany is the rule of the finding that ends a list of too many characters.
const HiddenTooMany = "too-many-hidden"

// scanHidden looks at the parts, which are whole lines of text or all of it. Neighbouring characters of one class are
// one finding. Bytes that are not UTF-8 are no characters and none of this package's business.
func scanHidden(text []byte, parts []span) []Finding {
	var found []Finding
	for _, part := range parts {
		for i := part.start; i < part.end; {
			if !mayHide[text[i]] {
				i++
				continue
			}
			r, size := utf8.DecodeRune(text[i:part.end])
			c := classOf(r)
			if c == nil || r == utf8.RuneError && size == 1 {
				i += size
				continue
			}
			if n := needed(text, i, r); n > 0 {
				i += n
				continue
			}
			f, n := hiddenRun(text, i, part.end, c)
			if len(found) == MaxFindings {
				return append(found, incomplete(span{i, part.end}, HiddenTooMany, fmt.Sprintf("more than %d hidden characters: those that follow are not listed; remove the ones above first", MaxFindings)))
			}
			found = append(found, f)
			i += n
		}
	}
	return found
}

// hiddenRun returns the finding for the characters of class c that begin at i, and their length in bytes.
func hiddenRun(text []byte, i, limit int, c *class) (Finding, int) {
	first, size := utf8.DecodeRune(text[i:])
	count, end := 1, i+size
	for end < limit {
		r, size := utf8.DecodeRune(text[end:])
		if !c.has(r) || size == 1 && r == utf8.RuneError {
			break
		}
		if needed(text, end, r) > 0 {
			break
		}
		count, end = count+1, end+size
	}
	name := fmt.Sprintf("U+%04X", first)
	if n := names[first]; n != "" {
		name += " " + n
	}
	what := c.what
	if count > 1 {
		what = fmt.Sprintf("%s and %d more of its sort", c.what, count-1)
	}
	return Finding{
		Kind: c.kind, Rule: c.rule, Start: i, End: end,
		Reason: fmt.Sprintf("column %d: %s (%s): %s; remove it, or write it as an escape such as U+%04X.", column(text, i), what, name, c.why, first),
	}, end - i
}

// columnBytes is how far back column looks for the beginning of the line: a column is for a person to count to.
const columnBytes = 64 << 10

// column counts characters from the beginning of the line, from 1. On a longer line than columnBytes it counts from
// there.
func column(text []byte, i int) int {
	line := text[max(0, i-columnBytes):i]
	if n := bytes.LastIndexByte(line, '\n'); n >= 0 {
		line = line[n+1:]
	}
	return utf8.RuneCount(bytes.TrimPrefix(line, []byte("\ufeff"))) + 1
}

// needed returns the length of the hidden characters at i that the text around them needs, or 0.
func needed(text []byte, i int, r rune) int {
	size := utf8.RuneLen(r)
	prev, _ := utf8.DecodeLastRune(text[:i])
	next, _ := utf8.DecodeRune(text[min(len(text), i+size):])
	ok := false
	switch {
	case r == 0xFEFF:
		ok = i == 0 // a byte order mark
	case r == 0x200B:
		ok = unicode.In(prev, spaceless...) && unicode.In(next, spaceless...)
	case r == 0x180E || 0x180B <= r && r <= 0x180F:
		ok = unicode.Is(unicode.Mongolian, prev)
	case r == 0x034F:
		ok = unicode.Is(unicode.Hebrew, prev)
	case r == 0x200D && emojiPart(prev) && pictograph(next):
		ok = true
	case r == 0x200C || r == 0x200D:
		ok = unicode.In(base(text[:i]), joining...)
	case r == 0x200E || r == 0x200F || r == 0x061C:
		ok = rightToLeftLine(text, i)
	case 0xE0000 <= r && r <= 0xE007F:
		return flag(text, i, prev)
	case r == 0xFE0E || r == 0xFE0F:
		ok = pictograph(prev) || prev == '#' || prev == '*' || '0' <= prev && prev <= '9'
	case 0xFE00 <= r && r <= 0xFE0D:
		// Standardised variants: mathematical signs, CJK, Myanmar and a few more, none of them ASCII but 0.
		ok = prev >= 0x80 && (unicode.IsLetter(prev) || unicode.IsSymbol(prev) || unicode.IsPunct(prev))
	case 0xE0100 <= r && r <= 0xE01EF:
		ok = unicode.Is(unicode.Han, prev) // forms of ideographs, in Japanese names
	}
	if !ok {
		return 0
	}
	return size
}

// base returns the last character of text that is no mark: marks of several scripts belong to none. Four are more than
// a letter carries.
func base(text []byte) rune {
	r, size := utf8.DecodeLastRune(text)
	for n := 0; n < 4 && unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.Mn, r); n++ {
		text = text[:len(text)-size]
		r, size = utf8.DecodeLastRune(text)
	}
	return r
}

// spaceless scripts separate words by U+200B where a line may break.
var spaceless = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Javanese, unicode.Balinese, unicode.Tibetan}

// joining scripts need joiners and non-joiners to be spelled right.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Thaana,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Javanese, unicode.Balinese,
}

var rightToLeft = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Mandaic, unicode.Samaritan}

// rightToLeftLine reports whether the line around i has right-to-left letters within 4 KB of i.
func rightToLeftLine(text []byte, i int) bool {
	const near = 4 << 10
	from, to := max(0, i-near), min(len(text), i+near)
	if n := bytes.LastIndexByte(text[from:i], '\n'); n >= 0 {
		from += n + 1
	}
	if n := bytes.IndexByte(text[i:to], '\n'); n >= 0 {
		to = i + n
	}
	return bytes.ContainsFunc(text[from:to], func(r rune) bool { return r >= 0x590 && unicode.IsLetter(r) && unicode.In(r, rightToLeft...) })
}

// flag returns the length of the tag characters at i if they are the rest of a regional flag: a black flag, the region
// (2 letters and 1 to 3 letters or digits, such as gbeng), the cancel tag.
func flag(text []byte, i int, prev rune) int {
	const blackFlag, base, cancel = 0x1F3F4, 0xE0000, 0xE007F
	if prev != blackFlag {
		return 0
	}
	for n, at := 0, i; at < len(text); n++ {
		r, size := utf8.DecodeRune(text[at:])
		at += size
		letter := 'a' <= r-base && r-base <= 'z'
		digit := '0' <= r-base && r-base <= '9'
		switch {
		case r == cancel && 3 <= n && n <= 5:
			return at - i
		case n < 2 && letter, 2 <= n && n < 5 && (letter || digit):
		default:
			return 0
		}
	}
	return 0
}

// emojiPart reports whether r can stand before the joiner of an emoji sequence: a pictograph, a skin tone, the emoji
// variation selector or the end of a flag.
func emojiPart(r rune) bool {
	return pictograph(r) || r == 0xFE0F || r == 0xE007F
}

// pictograph reports whether r can be an emoji. It is the property Extended_Pictographic with skin tones, in ranges
// that are a little wide: what is between is symbols.
func pictograph(r rune) bool {
	switch {
	case r == 0xA9, r == 0xAE, r == 0x203C, r == 0x2049, r == 0x2122, r == 0x2139, r == 0x24C2, r == 0x3030, r == 0x303D, r == 0x3297, r == 0x3299:
		return true
	case 0x2190 <= r && r <= 0x21FF, 0x2300 <= r && r <= 0x23FF, 0x25A0 <= r && r <= 0x27BF, 0x2900 <= r && r <= 0x297F, 0x2B00 <= r && r <= 0x2BFF, 0x1F000 <= r && r <= 0x1FBFF:
		return true
	}
	return false
}

// Hidden returns the hidden characters and bidirectional controls in text, as Scan does, and nothing else: no rule for
// secrets is loaded. It costs 0.5 ms per MB where there are none.
func Hidden(text string) []Finding {
	for i := range len(text) {
		if !mayHide[text[i]] {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[i:]); classOf(r) != nil {
			b := []byte(text)
			return finish(b, scanHidden(b, []span{{i, len(b)}}))
		}
	}
	return nil
}

// mayHide tells which bytes begin a character of some class, in UTF-8.
var mayHide = func() (first [256]bool) {
	for _, c := range classes {
		for _, s := range c.set {
			for r := s.lo; r <= s.hi; r++ {
				first[string(r)[0]] = true
			}
		}
	}
	return first
}()
