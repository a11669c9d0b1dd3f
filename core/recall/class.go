package recall

import "unicode"

// class is what a rune does to a word.
type class uint8

const (
	cNone       class = iota // separates
	cLower                   // lower-case letter
	cUpper                   // upper-case letter
	cDigit                   // digit, or the dot between two
	cOther                   // letter without case, or mark
	cJoin                    // _ -
	cDot                     // .
	cPath                    // / \
	cApostrophe              // '
	cIgnored                 // invisible inside a word
	cCJK                     // Han, Hiragana, Katakana, Hangul
	cCount
)

func (k class) isWord() bool   { return k >= cLower && k <= cOther }
func (k class) isJoiner() bool { return k >= cJoin && k <= cPath }

// asciiClass is written out so that it is data, not work at start.
var asciiClass = [128]class{
	'0': cDigit, '1': cDigit, '2': cDigit, '3': cDigit, '4': cDigit,
	'5': cDigit, '6': cDigit, '7': cDigit, '8': cDigit, '9': cDigit,
	'a': cLower, 'b': cLower, 'c': cLower, 'd': cLower, 'e': cLower,
	'f': cLower, 'g': cLower, 'h': cLower, 'i': cLower, 'j': cLower,
	'k': cLower, 'l': cLower, 'm': cLower, 'n': cLower, 'o': cLower,
	'p': cLower, 'q': cLower, 'r': cLower, 's': cLower, 't': cLower,
	'u': cLower, 'v': cLower, 'w': cLower, 'x': cLower, 'y': cLower, 'z': cLower,
	'A': cUpper, 'B': cUpper, 'C': cUpper, 'D': cUpper, 'E': cUpper,
	'F': cUpper, 'G': cUpper, 'H': cUpper, 'I': cUpper, 'J': cUpper,
	'K': cUpper, 'L': cUpper, 'M': cUpper, 'N': cUpper, 'O': cUpper,
	'P': cUpper, 'Q': cUpper, 'R': cUpper, 'S': cUpper, 'T': cUpper,
	'U': cUpper, 'V': cUpper, 'W': cUpper, 'X': cUpper, 'Y': cUpper, 'Z': cUpper,
	'_': cJoin, '-': cJoin, '.': cDot, '/': cPath, '\\': cPath, '\'': cApostrophe,
}

// classOf classifies a rune beyond ASCII.
func classOf(r rune) class {
	switch {
	case r < 0x80:
		return asciiClass[r]
	case r == 0xAD || r == 0x200C || r == 0x200D || r == 0x2060 || r == 0xFEFF,
		0xFE00 <= r && r <= 0xFE0F: // soft hyphen, joiners, byte order mark, variation selectors
		return cIgnored
	case r == 0x2019 || r == 0x02BC:
		return cApostrophe
	case r == 0x2010 || r == 0x2011: // hyphens proper
		return cJoin
	case 0xFF01 <= r && r <= 0xFF5E: // full-width ASCII
		return asciiClass[r-0xFEE0]
	case isCJK(r):
		return cCJK
	case unicode.IsLower(r):
		return cLower
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return cUpper
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return cOther
	case unicode.IsNumber(r):
		return cDigit
	}
	return cNone
}

// isCJK reports whether r belongs to a script that is searched by characters.
// The blocks are tested first, since unicode.In on four tables is slow and
// almost all such text lies in them.
func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case 0x3400 <= r && r <= 0x9FFF, 0xAC00 <= r && r <= 0xD7A3:
		return !(0x4DC0 <= r && r <= 0x4DFF) // hexagram symbols
	case 0x3041 <= r && r <= 0x30FF:
		return r != 0x30A0 && r != 0x30FB && r != 0x309B && r != 0x309C // double hyphen, middle dot, spacing marks
	case 0xFF66 <= r && r <= 0xFF9F: // half-width Katakana with its marks
		return true
	case r < 0x2E80 && r > 0x11FF:
		return false
	case r == 0x3005 || r == 0x3007: // iteration mark, zero
		return true
	}
	return unicode.IsLetter(r) && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Katakana, unicode.Hiragana)
}
