package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Encoding says what the characters of a Position count. Its values are the
// names that LSP 3.17 and later negotiate; any other one, "" included, means
// UTF16, which is what the protocol falls back to.
type Encoding string

// The encodings of LSP 3.18.
const (
	UTF8  Encoding = "utf-8"  // bytes
	UTF16 Encoding = "utf-16" // UTF-16 code units: two for a character past U+FFFF
	UTF32 Encoding = "utf-32" // characters (code points)
)

// Position is a place in a document as an editor names it, both numbers from 0.
//
// Lines are those of the line table, with one more after a final newline, which
// is where a cursor behind it stands; an empty document has line 0. They end at
// "\n" and "\r\n" only; a lone "\r" is a character of its line, as Vim and Emacs have
// it. Editors that go by LSP end a line at it, too: for them there is ProtocolLines.
// It counts one unit, and so does a byte that is no UTF-8, in each encoding; a byte
// order mark is a character like any other.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// The reasons why a Position is no place in a document.
var (
	ErrPastLastLine    = errors.New("the document has fewer lines")
	ErrInsideCharacter = errors.New("it lies inside a character")
	ErrNegative        = errors.New("lines and characters count from 0")
	ErrBackwards       = errors.New("the range ends before it starts")
)

// PositionError is a Position that is no place in a document. Err is one of the
// reasons above.
type PositionError struct {
	Position Position
	Encoding Encoding
	Err      error
}

func (e *PositionError) Error() string {
	return fmt.Sprintf("line %d, character %d (%s, both from 0): %v", e.Position.Line, e.Position.Character, e.Encoding, e.Err)
}

func (e *PositionError) Unwrap() error { return e.Err }

// Offset gives the byte offset of a position. A character past the end of its
// line means that end, before its line ending, as LSP says.
//
// Other positions that do not exist give a *PositionError and beside it the
// nearest offset, for a caller that would rather go on: the end of the document
// for a line past the last one (LSP says nothing of those, and clients send them
// to mean "to the end"), the start of the character for a position inside one
// (between two surrogates, or between the bytes of a character), 0 for what is
// negative. The cost is linear in the line.
func (t *Text) Offset(p Position, enc Encoding) (int, error) {
	switch {
	case p.Line < 0 || p.Character < 0:
		near, _ := t.Offset(Position{max(p.Line, 0), max(p.Character, 0)}, enc)
		return near, enc.wrong(p, ErrNegative)
	case p.Line > t.lastLine():
		return len(t.src), enc.wrong(p, ErrPastLastLine)
	}
	line := t.Line(p.Line) // the empty span at the end for the line after a final newline
	if p.Character >= line.Len() {
		return line.End, nil // a unit has at least one byte
	}
	at := line.Start + asciiPrefix(t.src[line.Start:line.Start+p.Character])
	for units := at - line.Start; at < line.End && units < p.Character; {
		r, size := utf8.DecodeRuneInString(t.src[at:line.End])
		if units += enc.units(r, size); units > p.Character {
			return at, enc.wrong(p, ErrInsideCharacter)
		}
		at += size
	}
	return at, nil
}

// SpanOf gives the span between two positions, as Offset does. With an error it
// gives the nearest span, empty where the end lies before the start.
func (t *Text) SpanOf(start, end Position, enc Encoding) (Span, error) {
	from, err := t.Offset(start, enc)
	to, errEnd := t.Offset(end, enc)
	if err == nil {
		err = errEnd
	}
	if to < from {
		to = from
		if err == nil {
			err = enc.wrong(end, ErrBackwards)
		}
	}
	return Span{from, to}, err
}

// Position gives the position of a byte offset. An offset inside a character
// gives the character's start, one between "\r" and "\n" the end of the line, one
// outside the document its nearest end. For every other offset o, Offset gives o
// again. The cost does not grow with the line: long ones are counted once.
func (t *Text) Position(offset int, enc Encoding) Position {
	offset = min(max(offset, 0), len(t.src))
	i := t.LineAt(offset)
	if offset == len(t.src) {
		i = t.lastLine()
	}
	line := t.Line(i)
	offset = min(offset, line.End)
	if offset-line.Start > longLine {
		return Position{i, t.before(offset).units(enc) - t.before(line.Start).units(enc)}
	}
	at := line.Start + asciiPrefix(t.src[line.Start:offset])
	units := at - line.Start
	for at < offset {
		r, size := utf8.DecodeRuneInString(t.src[at:line.End])
		if at += size; at > offset {
			break
		}
		units += enc.units(r, size)
	}
	return Position{i, units}
}

// lastLine gives the line that the end of the document stands on.
func (t *Text) lastLine() int {
	if n := len(t.src); n > 0 && t.src[n-1] != '\n' && !(t.crEnds && t.src[n-1] == '\r') {
		return len(t.starts) - 1
	}
	return len(t.starts)
}

// ProtocolLines gives the same document with the lines that LSP counts, which end at
// "\n", "\r\n" and at a "\r" alone. It is t itself where there is none of the last kind.
func (t *Text) ProtocolLines() *Text {
	t.splitting.Do(func() {
		t.split = t
		if starts, some := t.behindLoneCRs(); some {
			starts = append(starts, t.starts...)
			slices.Sort(starts)
			t.split = &Text{src: t.src, starts: starts, crEnds: true}
		}
	})
	return t.split
}

// behindLoneCRs gives where lines start behind a "\r" that no "\n" follows, and whether
// there is any: behind one at the very end no line starts, as behind a final newline.
func (t *Text) behindLoneCRs() (starts []int, some bool) {
	for at := 0; !t.crEnds; at++ {
		i := strings.IndexByte(t.src[at:], '\r')
		if i < 0 {
			break
		}
		at += i
		switch {
		case at+1 == len(t.src):
			return starts, true
		case t.src[at+1] != '\n':
			starts, some = append(starts, at+1), true
		}
	}
	return starts, some
}

// units gives how many units a character of so many bytes counts.
func (enc Encoding) units(r rune, size int) int {
	switch {
	case enc == UTF8:
		return size
	case enc != UTF32 && r > 0xFFFF:
		return 2
	}
	return 1
}

func (enc Encoding) wrong(p Position, why error) error {
	if enc != UTF8 && enc != UTF32 {
		enc = UTF16
	}
	return &PositionError{Position: p, Encoding: enc, Err: why}
}

// asciiPrefix gives the number of ASCII bytes that s starts with, reading eight
// at a time. They count one unit in every encoding, and most lines have no others.
func asciiPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if (s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7])&0x80 != 0 {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}
