package recall

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold fills buf with text[start:end]: compatibility forms decomposed,
// diacritics dropped, lower case. It remembers the class that each byte had
// before, since case is a boundary inside identifiers.
//
// Decomposing without composing again gives the same term for both spellings of
// a letter and leaves diacritics as runes of their own. Scripts for which that
// would be wrong (Hangul, Kana) do not come here.
func (s *scanner) fold(text string, start, end int) {
	s.buf, s.cls, s.src, s.dst = s.buf[:0], s.cls[:0], s.src[:0], s.dst[:0]
	s.base, s.ascii = start, true
	for i := start; i < end; {
		c := text[i]
		if c < utf8.RuneSelf {
			s.buf = append(s.buf, lowerASCII(c))
			s.cls = append(s.cls, asciiClass[c])
			s.place(i, i+1)
			i++
			continue
		}
		s.foreign()
		r, size := utf8.DecodeRuneInString(text[i:end])
		if d := norm.NFKD.PropertiesString(text[i:end]).Decomposition(); d != nil {
			for len(d) > 0 {
				r, n := utf8.DecodeRune(d)
				s.add(r, i, i+size)
				d = d[n:]
			}
		} else {
			s.add(r, i, i+size)
		}
		i += size
	}
	// A dot between digits belongs to the number: 1.26, 127.0.0.1.
	for i := 1; i < len(s.cls)-1; i++ {
		if s.cls[i] == cDot && s.cls[i-1] == cDigit && s.cls[i+1] == cDigit {
			s.cls[i] = cDigit
		}
	}
}

// foreign starts to record places, which ASCII does without.
func (s *scanner) foreign() {
	if !s.ascii {
		return
	}
	s.ascii = false
	for i := range s.buf {
		s.src = append(s.src, int32(i))
		s.dst = append(s.dst, int32(i+1))
	}
}

func (s *scanner) place(start, end int) {
	for !s.ascii && len(s.src) < len(s.buf) {
		s.src = append(s.src, int32(start-s.base))
		s.dst = append(s.dst, int32(end-s.base))
	}
}

// add appends one decomposed rune that came from [start, end) of the source.
func (s *scanner) add(r rune, start, end int) {
	k := classOf(r)
	last := len(s.buf) - 1
	switch {
	case isDiacritic(r):
		if last >= 0 {
			s.dst[last] = int32(end - s.base) // so that a span covers the mark
		}
		return
	case k == cOther && last >= 0 && s.cls[last].isWord() && unicode.IsMark(r):
		k = s.cls[last]
	case !k.isWord() && !k.isJoiner():
		return
	}
	if long := expand(r); long != "" {
		s.buf = append(s.buf, long...)
	} else {
		s.buf = utf8.AppendRune(s.buf, unicode.ToLower(r))
	}
	for len(s.cls) < len(s.buf) {
		s.cls = append(s.cls, k)
	}
	s.place(start, end)
}

// isDiacritic reports marks that readers leave out when they type a query. The
// vowel signs of Indic scripts are marks too, but part of the spelling.
func isDiacritic(r rune) bool {
	return 0x0300 <= r && r <= 0x036F || // Latin, Greek, Cyrillic
		0x0591 <= r && r <= 0x05BD || // Hebrew points
		0x064B <= r && r <= 0x0652 // Arabic vowels
}

// expand returns the plain spelling of letters that do not decompose.
func expand(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'æ', 'Æ':
		return "ae"
	case 'œ', 'Œ':
		return "oe"
	case 'ø', 'Ø':
		return "o"
	case 'ł', 'Ł':
		return "l"
	case 'đ', 'Đ', 'ð', 'Ð':
		return "d"
	case 'þ', 'Þ':
		return "th"
	case 'ı':
		return "i"
	case 'ς':
		return "σ"
	}
	return ""
}

// ideographs emits single characters and pairs of a CJK run. NFKC makes
// half-width Katakana and loose Jamo, as in file names of macOS, the characters
// that people type.
func (s *scanner) ideographs(text string, start int, emit emitFunc) int {
	end := start
	for end < len(text) && end-start < maxChunkBytes {
		k, size := classAt(text, end)
		if k != cCJK {
			break
		}
		end += size
	}
	var pair [2 * utf8.UTFMax]byte
	width, from := 0, 0 // of the character before
	one := func(r rune, a, z int) {
		n := utf8.EncodeRune(pair[width:], r)
		emit(pair[width:width+n], a, z, Ideograph)
		if width > 0 {
			emit(pair[:width+n], from, z, Bigram)
		}
		copy(pair[:], pair[width:width+n])
		width, from = n, a
	}
	run := text[start:end]
	if norm.NFKC.IsNormalString(run) {
		for i, r := range run {
			one(r, start+i, start+i+utf8.RuneLen(r))
		}
		return end
	}
	var it norm.Iter
	for it.InitString(norm.NFKC, run); !it.Done(); {
		a := start + it.Pos()
		composed := it.Next()
		// A character that becomes two is given out in two steps, the first of
		// which does not move the position.
		_, size := utf8.DecodeRuneInString(text[a:])
		for z := max(a+size, start+it.Pos()); len(composed) > 0; {
			r, n := utf8.DecodeRune(composed)
			one(r, a, z)
			composed = composed[n:]
		}
	}
	return end
}
