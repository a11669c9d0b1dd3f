package guard

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"mem/core/text"
)

// sentences reads a text as sentences of words, without what is quoted or skipped, and looks for patterns in each.
type sentences struct {
	src   []byte
	skip  []text.Span // ordered, without overlap; those behind are dropped
	table *patternTable
	at    int
	limit int // where the next span to skip starts

	toks    []token
	stop    stop // what stands between the last token and the next one
	newLine bool
	colon   bool

	front     int  // end of the frontmatter
	comment   int  // end of the comment that at is in, else 0
	noComment bool // no comment ends behind here
	block     int  // end of the paragraph that at is in, see quote
	noQuote   map[rune]int
	noShell   int // how far pipe has looked
	found     []Finding
}

const (
	// maxSentence is how many words are looked at together, and keptWords how many of them again with those that follow
	// in a sentence that is longer. No pattern has more words than keptWords.
	maxSentence = 1024
	keptWords   = 64
)

func (s *sentences) scan() {
	if bytes.HasPrefix(s.src, []byte("\ufeff")) {
		s.at = len("\ufeff")
	}
	s.front = frontEnd(s.src, s.at)
	s.toks = make([]token, 0, 64)
	s.lineStart()
	for s.at < len(s.src) {
		if s.src[s.at] == ' ' { // one byte in six
			s.at++
			continue
		}
		if s.comment > 0 && s.at > s.comment {
			s.comment = 0 // a link or a tag reached over its end
		}
		if s.limit = len(s.src); len(s.skip) > 0 {
			if s.at >= s.skip[0].Start {
				s.skipSpan()
				continue
			}
			s.limit = min(s.limit, s.skip[0].Start)
		}
		if c := s.src[s.at]; c < utf8.RuneSelf && asciiKinds[c] == kindWord {
			s.word()
			continue
		}
		s.next()
	}
	s.flush()
}

// skipSpan passes over what the caller said to skip. In a line it is one word; a block ends the sentence.
func (s *sentences) skipSpan() {
	from, to := s.at, min(s.skip[0].End, len(s.src))
	s.skip = s.skip[1:]
	if to <= from {
		return
	}
	s.at = to
	if bytes.IndexByte(s.src[from:to], '\n') < 0 {
		s.emit(from, to, wordOpaque)
		return
	}
	s.flush()
	if s.src[to-1] == '\n' {
		s.lineStart()
	}
}

// next reads the word or sign at s.at.
func (s *sentences) next() {
	c := s.src[s.at]
	if c >= utf8.RuneSelf {
		s.wide()
		return
	}
	switch kind := asciiKinds[c]; kind {
	case kindSpace, kindEmphasis:
		if c == '~' && s.peek(1) == '/' {
			s.path(s.at, s.at)
			return
		}
		s.at++
	case kindWord:
		s.word()
	case kindLine:
		s.at++
		s.newLine, s.colon = true, false
		s.lineStart()
	case kindEnd:
		s.full()
	case kindSoft:
		s.at++
		s.pause(stopSoft)
	case kindClause:
		s.at++
		s.pause(stopClause)
		s.colon = s.colon || c == ':'
	case kindQuote:
		s.quote(rune(c), 1)
	case kindOpen:
		s.angle()
	case kindDash:
		s.dash()
	case kindBracket:
		s.bracket(c)
	case kindSlash:
		if next := s.peek(1); next < utf8.RuneSelf && asciiKinds[next] == kindWord {
			s.path(s.at, s.at)
			return
		}
		s.at++
	}
}

type kind uint8

const (
	kindSoft kind = iota // and every sign that is none of the others
	kindSpace
	kindEmphasis
	kindWord
	kindLine
	kindEnd
	kindClause
	kindQuote
	kindOpen
	kindDash
	kindBracket
	kindSlash
)

var asciiKinds = func() (kinds [utf8.RuneSelf]kind) {
	set := func(k kind, chars string) {
		for i := range len(chars) {
			kinds[chars[i]] = k
		}
	}
	set(kindWord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	set(kindSpace, " \t\r\v\f\x00")
	set(kindEmphasis, "*_~\\`$@&%^+")
	set(kindLine, "\n")
	set(kindEnd, ".!?")
	set(kindClause, ":;|=")
	set(kindQuote, `"'`)
	set(kindOpen, "<")
	set(kindDash, "-")
	set(kindBracket, "[]")
	set(kindSlash, "/")
	return kinds
}()

func (s *sentences) peek(n int) byte {
	if s.at+n < len(s.src) {
		return s.src[s.at+n]
	}
	return ' '
}

// wide reads a character that is not ASCII.
func (s *sentences) wide() {
	r, size := utf8.DecodeRune(s.src[s.at:s.limit])
	switch {
	case isHan(r):
		s.han(r, size)
		return
	case 0xFF21 <= r && r <= 0xFF3A, 0xFF41 <= r && r <= 0xFF5A, classOf(r) == nil && unicode.IsLetter(r):
		s.word()
		return
	case r == '“', r == '„', r == '‘', r == '「', r == '『', r == '«':
		s.quote(r, size)
		return
	case r == '。', r == '！', r == '？', r == '…':
		s.flush()
	case r == '：', r == '；':
		s.pause(stopClause)
		s.colon = s.colon || r == '：'
	case classOf(r) == nil && r != utf8.RuneError && r != '’':
		s.pause(stopSoft)
	}
	s.at += size
}

// isHan is unicode.Is(unicode.Han, r), for the block that nearly all characters are of without a search.
func isHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FEF || unicode.Is(unicode.Han, r) }

func (s *sentences) pause(p stop) { s.stop = max(s.stop, p) }

// full reads ".", "!" or "?", which end a sentence where white space follows.
func (s *sentences) full() {
	if s.src[s.at] == '.' && s.secretName(s.at) {
		s.path(s.at, s.at)
		return
	}
	s.at++
	c := s.peek(0)
	if c < utf8.RuneSelf && asciiKinds[c] != kindWord && c != '/' || isHan(s.runeAt()) {
		s.flush()
		return
	}
	s.pause(stopSoft)
}

func (s *sentences) runeAt() rune {
	r, _ := utf8.DecodeRune(s.src[min(s.at, len(s.src)):])
	return r
}

// dash reads "-": the end of a comment, a dash between words, or a hyphen.
func (s *sentences) dash() {
	switch {
	case s.comment > 0 && bytes.HasPrefix(s.src[s.at:], []byte("-->")):
		s.flush()
		s.comment = 0
		s.at += 3
		return
	case s.peek(1) == ' ', s.peek(1) == '-', s.at > 0 && s.src[s.at-1] == ' ':
		s.pause(stopSoft)
	}
	s.at++
}

// emit adds a word to the sentence.
func (s *sentences) emit(start, end int, word uint16) {
	if s.newLine && s.stop == stopNone && capital(s.src[start:]) {
		s.stop = stopSoft
	}
	s.toks = append(s.toks, token{int32(start), int32(end), word, s.stop, s.newLine, s.colon})
	s.stop, s.newLine, s.colon = stopNone, false, false
	if len(s.toks) == maxSentence {
		s.match(maxSentence - keptWords)
		n := copy(s.toks, s.toks[maxSentence-keptWords:])
		s.toks = s.toks[:n]
		s.toks[0].stop = max(s.toks[0].stop, stopSoft)
	}
}

// capital reports whether a line that begins so is likely to begin a sentence.
func capital(word []byte) bool {
	r, _ := utf8.DecodeRune(word)
	return unicode.IsUpper(r) || isHan(r)
}

// flush ends the sentence.
func (s *sentences) flush() {
	if len(s.toks) > 0 {
		s.match(len(s.toks))
		s.toks = s.toks[:0]
	}
	s.stop, s.newLine, s.colon = stopNone, false, false
}

// lineStart looks at the line that begins at s.at: whether it goes on with the sentence, and whether it is a block
// quote, which is passed over.
func (s *sentences) lineStart() {
	line := s.src[s.at:]
	if s.at < s.front {
		if len(line) > 0 && line[0] != ' ' && line[0] != '\t' {
			s.flush()
		}
		return
	}
	mark, quoted := blockStart(line)
	if mark == 0 && !quoted && !blank(line) {
		return
	}
	s.flush()
	s.at += mark
	if quoted && s.comment == 0 {
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			s.at += n - mark
		} else {
			s.at = len(s.src)
		}
	}
}
