package guard

// class is a sort of character that is not seen. A class finding is refused or shown by its kind; the rule is what a
// configuration or a test names.
type class struct {
	rule string
	kind Kind
	what string // singular, for the reason
	why  string
	set  []runeRange
}

type runeRange struct{ lo, hi rune }

func (c *class) has(r rune) bool {
	for _, s := range c.set {
		if s.lo <= r && r <= s.hi {
			return true
		}
	}
	return false
}

// classes are disjoint. Character properties are those of Unicode 15, which Go 1.26 has; the reasons are from Unicode
// Technical Report 36 (spoofing by invisible characters), "Trojan Source" (CVE-2021-42574, bidirectional controls) and
// the published injections that hide instructions for a model in tag characters and variation selectors.
var classes = []*class{
	{
		rule: "zero-width", kind: KindHidden, what: "zero-width character",
		why: "it takes no room, so words look whole that a search does not find, and text looks clean that carries a mark",
		set: []runeRange{{0x200B, 0x200B}, {0x2060, 0x2064}, {0xFEFF, 0xFEFF}, {0x034F, 0x034F}, {0x180E, 0x180E}, {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}},
	},
	{
		rule: "joiner", kind: KindHidden, what: "zero-width joiner",
		why: "outside of emoji and of scripts that join letters it does nothing but break words for a search",
		set: []runeRange{{0x200C, 0x200D}},
	},
	{
		rule: "filler", kind: KindHidden, what: "filler that is not drawn",
		why: "it passes as a letter in a name, which then is another name than it seems",
		set: []runeRange{{0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x3164, 0x3164}, {0xFFA0, 0xFFA0}},
	},
	{
		rule: "soft-hyphen", kind: KindHidden, what: "soft hyphen",
		why: "it is not drawn inside a line, and a search does not find the word around it",
		set: []runeRange{{0x00AD, 0x00AD}},
	},
	{
		rule: "line-separator", kind: KindHidden, what: "line or paragraph separator",
		why: "some programs end the line there and others do not, so they see different entries",
		set: []runeRange{{0x2028, 0x2029}},
	},
	{
		rule: "tag", kind: KindHidden, what: "tag character",
		why: "tag characters spell text that a model reads and nobody sees",
		set: []runeRange{{0xE0000, 0xE007F}},
	},
	{
		rule: "variation-selector", kind: KindHidden, what: "variation selector",
		why: "where it selects no form of a character it can only carry data that nobody sees",
		set: []runeRange{{0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}, {0x180B, 0x180D}, {0x180F, 0x180F}},
	},
	{
		rule: "control", kind: KindHidden, what: "control character",
		why: "a terminal obeys it instead of showing it: it can erase, recolour or overwrite what stands around it",
		set: []runeRange{{0x00, 0x08}, {0x0B, 0x0C}, {0x0E, 0x1F}, {0x7F, 0x9F}},
	},
	{
		rule: "bidi-override", kind: KindBidi, what: "bidirectional control",
		why: "the text displays in another order than it is stored, so a person and a model read different sentences",
		set: []runeRange{{0x202A, 0x202E}, {0x2066, 0x2069}, {0x206A, 0x206F}},
	},
	{
		rule: "bidi-mark", kind: KindBidi, what: "direction mark",
		why: "in a line without right-to-left letters it has no use but to be invisible",
		set: []runeRange{{0x200E, 0x200F}, {0x061C, 0x061C}},
	},
}

// classOf returns the class of r, or nil.
func classOf(r rune) *class {
	switch {
	case 0x20 <= r && r < 0x7F, 0xA0 <= r && r < 0xAD, 0xAE <= r && r < 0x34F, 0x2010 <= r && r < 0x2028, 0x2070 <= r && r < 0x3164,
		0x3165 <= r && r < 0xFE00, 0xFF00 <= r && r < 0xFFA0:
		return nil // nearly all text
	case r == '\t', r == '\n', r == '\r':
		return nil
	}
	for _, c := range classes {
		if c.has(r) {
			return c
		}
	}
	return nil
}

// names are those of the Unicode Character Database, for the characters that a text is likely to have.
var names = map[rune]string{
	0x00: "NULL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0B: "LINE TABULATION", 0x0C: "FORM FEED", 0x1B: "ESCAPE", 0x7F: "DELETE", 0x85: "NEXT LINE",
	0x00AD: "SOFT HYPHEN", 0x034F: "COMBINING GRAPHEME JOINER", 0x061C: "ARABIC LETTER MARK", 0x180E: "MONGOLIAN VOWEL SEPARATOR",
	0x115F: "HANGUL CHOSEONG FILLER", 0x1160: "HANGUL JUNGSEONG FILLER", 0x3164: "HANGUL FILLER", 0xFFA0: "HALFWIDTH HANGUL FILLER",
	0x200B: "ZERO WIDTH SPACE", 0x200C: "ZERO WIDTH NON-JOINER", 0x200D: "ZERO WIDTH JOINER", 0x200E: "LEFT-TO-RIGHT MARK", 0x200F: "RIGHT-TO-LEFT MARK",
	0x2028: "LINE SEPARATOR", 0x2029: "PARAGRAPH SEPARATOR",
	0x202A: "LEFT-TO-RIGHT EMBEDDING", 0x202B: "RIGHT-TO-LEFT EMBEDDING", 0x202C: "POP DIRECTIONAL FORMATTING", 0x202D: "LEFT-TO-RIGHT OVERRIDE", 0x202E: "RIGHT-TO-LEFT OVERRIDE",
	0x2060: "WORD JOINER", 0x2061: "FUNCTION APPLICATION", 0x2062: "INVISIBLE TIMES", 0x2063: "INVISIBLE SEPARATOR", 0x2064: "INVISIBLE PLUS",
	0x2066: "LEFT-TO-RIGHT ISOLATE", 0x2067: "RIGHT-TO-LEFT ISOLATE", 0x2068: "FIRST STRONG ISOLATE", 0x2069: "POP DIRECTIONAL ISOLATE",
	0xFE0E: "VARIATION SELECTOR-15", 0xFE0F: "VARIATION SELECTOR-16", 0xFEFF: "ZERO WIDTH NO-BREAK SPACE",
}
