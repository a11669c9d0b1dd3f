package recall

import (
	"strings"
	"unicode/utf8"
)

// emitFunc receives a term as folded bytes, valid only during the call, and its
// byte span in the source.
type emitFunc func(surface []byte, start, end int, kind Kind)

// A scanner finds words in text. It keeps one chunk at a time, folded, with the
// class of every byte and, unless the chunk is ASCII, where each came from.
type scanner struct {
	buf      []byte
	cls      []class
	src, dst []int32 // start and end of the source rune of each byte of buf, from base
	base     int
	ascii    bool // src and dst are not filled: buf[i] is text[base+i]
	joined   [maxWholeBytes]byte
}

// step reads from text[i:] up to and including the next chunk and returns where
// to go on. A chunk is a maximal run of letters and digits with single joiners
// inside, or a run of CJK characters; both are cut at maxChunkBytes, which
// bounds the buffers whatever the text.
func (s *scanner) step(text string, i int, emit emitFunc) int {
	for i < len(text) {
		k, size := classAt(text, i)
		switch {
		case k.isWord():
			return s.chunk(text, i, emit)
		case k == cCJK:
			return s.ideographs(text, i, emit)
		}
		i += size
	}
	return i
}

func (s *scanner) chunk(text string, start int, emit emitFunc) int {
	if end := plainWord(text, start); end > start {
		s.plain(text, start, end, emit)
		return end
	}
	var (
		seen    [cCount]bool
		innerUp bool // an upper-case letter that is not the first
		foreign bool // not only ASCII
		joiner  bool // the last rune was a joiner
		end     = start
	)
scan:
	for i := start; i < len(text) && i-start < maxChunkBytes; {
		k, size := classAt(text, i)
		switch {
		case k.isWord():
			seen[k] = true
			seen[cJoin] = seen[cJoin] || joiner
			innerUp = innerUp || k == cUpper && i > start
			joiner = false
			end = i + size
		case k.isJoiner() && !joiner:
			joiner = true
		case k == cIgnored:
		default:
			break scan
		}
		foreign = foreign || size > 1
		i += size
	}
	letters := seen[cLower] || seen[cUpper]
	if foreign || innerUp || seen[cJoin] || letters && seen[cDigit] {
		s.fold(text, start, end)
		s.split(emit)
	} else {
		s.plain(text, start, end, emit)
	}
	return skipContraction(text, end)
}

// plainWord returns the end of a word at text[start:] of ASCII letters, none but
// the first a capital, with white space or the like behind it; else start. Most
// words are plain, so this decides the speed of everything.
func plainWord(text string, start int) int {
	if c := text[start]; c >= utf8.RuneSelf || asciiClass[c] > cUpper {
		return start
	}
	i := start + 1
	for i < len(text) && i-start < maxWordBytes && 'a' <= text[i] && text[i] <= 'z' {
		i++
	}
	if i < len(text) && (text[i] >= utf8.RuneSelf || asciiClass[text[i]] != cNone) {
		return start
	}
	return i
}

// plain emits a word or number that needs no splitting.
func (s *scanner) plain(text string, start, end int, emit emitFunc) {
	end = min(end, start+maxWordBytes)
	s.buf = append(s.buf[:0], text[start:end]...)
	for i, c := range s.buf {
		s.buf[i] = lowerASCII(c)
	}
	emit(s.buf, start, end, Word)
}

// skipContraction returns the place after "'s", "'t" and the like at text[i:],
// else i. What is dropped carries no meaning; every other apostrophe separates.
func skipContraction(text string, i int) int {
	k, size := classAt(text, i)
	if k != cApostrophe {
		return i
	}
	rest := text[i+size:]
	for _, c := range [...]string{"s", "t", "re", "ve", "ll", "d", "m"} {
		if len(rest) >= len(c) && strings.EqualFold(rest[:len(c)], c) {
			if k, _ := classAt(rest, len(c)); !k.isWord() && k != cIgnored {
				return i + size + len(c)
			}
		}
	}
	return i
}

// classAt classifies the rune at text[i:]; past the end it is cNone.
func classAt(text string, i int) (k class, size int) {
	if i >= len(text) {
		return cNone, 0
	}
	if c := text[i]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	if r == utf8.RuneError {
		return cNone, size
	}
	return classOf(r), size
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
