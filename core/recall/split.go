package recall

import (
	"bytes"
	"unicode/utf8"
)

// maxDigitSwitches is how often letters and digits may alternate in a name that
// is split. More often it is a hash or encoded data, whose parts mean nothing.
const maxDigitSwitches = 3

// split emits the identifier in buf: as a whole at each level of joiners (path,
// dots, words), then by parts. A level looks at every byte once, so the time
// stays linear.
func (s *scanner) split(emit emitFunc) { s.level(0, len(s.buf), cPath, true, emit) }

// level splits buf[a:z] at the joiner sep. alone says that no level above has
// split: what turns out to be one word then is a word, not a part.
func (s *scanner) level(a, z int, sep class, alone bool, emit emitFunc) {
	if a >= z {
		return
	}
	var next class
	switch sep {
	case cPath:
		next = cDot
	case cDot:
		next = cJoin
	case cJoin:
		next = cNone
	default:
		s.word(a, z, alone, emit)
		return
	}
	from := a
	for i := a; i < z; i++ {
		if s.cls[i] != sep {
			continue
		}
		if from == a {
			s.whole(a, z, emit)
			alone = false
		}
		s.level(from, i, next, alone, emit)
		from = i + 1
	}
	s.level(from, z, next, alone, emit)
}

// word emits buf[a:z], which has no joiners, and its parts at changes of case
// and between letters and digits.
func (s *scanner) word(a, z int, alone bool, emit emitFunc) {
	if z-a > maxWordBytes {
		// No one searches for a part of it; the whole can be pasted.
		z = a + maxWordBytes
		for z > a && !utf8.RuneStart(s.buf[z]) {
			z--
		}
		s.emit(a, z, Part, emit)
		return
	}
	// Boundaries first: at most one a byte, and the word is short.
	var ends [maxWordBytes]int
	n, switches := 0, 0
	from := a
	for i := a + 1; i < z; i++ {
		before, at := s.cls[i-1], s.cls[i]
		cut := 0
		switch {
		case (before == cDigit) != (at == cDigit):
			switches++
			cut = i
		case before == cLower && at == cUpper:
			cut = i
		case before == cUpper && at == cLower && !s.pluralAt(i, z):
			cut = i - 1 // the last capital belongs to the word that follows: HTTP|Server
			for !utf8.RuneStart(s.buf[cut]) {
				cut--
			}
		}
		if cut > from {
			ends[n] = cut
			n, from = n+1, cut
		}
	}
	if n == 0 || switches > maxDigitSwitches {
		kind := Part
		if alone {
			kind = Word
		}
		s.part(a, z, kind, emit)
		return
	}
	s.emit(a, z, Whole, emit)
	from = a
	for _, end := range ends[:n] {
		s.part(from, end, Part, emit)
		from = end
	}
	s.part(from, z, Part, emit)
}

// pluralAt reports an "s" behind capitals that ends the word: URLs, IDsFor.
func (s *scanner) pluralAt(i, z int) bool {
	return s.buf[i] == 's' && (i+1 == z || s.cls[i+1] != cLower)
}

// part emits one part; of a number with more than one dot also the first two
// places, so that "1.2" finds 1.2.1.
func (s *scanner) part(a, z int, kind Kind, emit emitFunc) {
	s.emit(a, z, kind, emit)
	if s.cls[a] != cDigit {
		return
	}
	first := bytes.IndexByte(s.buf[a:z], '.')
	if first < 0 {
		return
	}
	if second := bytes.IndexByte(s.buf[a+first+1:z], '.'); second >= 0 {
		s.emit(a, a+first+1+second, Part, emit)
	}
}

func (s *scanner) emit(a, z int, kind Kind, emit emitFunc) {
	start, end := s.span(a, z)
	emit(s.buf[a:z], start, end, kind)
}

// whole emits buf[a:z] without its joiners, so that parse_url, parse-url and
// parseURL are one term.
func (s *scanner) whole(a, z int, emit emitFunc) {
	n := 0
	for i := a; i < z; i++ {
		if s.cls[i].isJoiner() {
			continue
		}
		if n == len(s.joined) {
			return
		}
		s.joined[n] = s.buf[i]
		n++
	}
	if n == 0 {
		return // a joiner between marks that folding dropped
	}
	start, end := s.span(a, z)
	emit(s.joined[:n], start, end, Whole)
}

func (s *scanner) span(a, z int) (start, end int) {
	if s.ascii {
		return s.base + a, s.base + z
	}
	return s.base + int(s.src[a]), s.base + int(s.dst[z-1])
}
