package diagnostics

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mem/core/text"
)

// Guide is a file of instructions that the project keeps for agents.
type Guide struct {
	Path string // as people know it, such as CLAUDE.md
	Text string
	// Next is another such file of the project, nil after the last one.
	Next *Guide

	once       sync.Once
	starts     map[string]bool // what each paragraph begins with, folded
	paragraphs map[uint64]int  // the line that it is on, from 0, by the hash of its words
}

// MinParagraph is how long a paragraph must be, folded, for its repetition to mean
// something, in characters: shorter ones are headings and common phrases.
const MinParagraph = 40

// startLength is how much of a paragraph is looked at first, in bytes: nearly none
// begins as one of the guide does, and nothing more has to be read of it.
const startLength = 16

var seed = maphash.MakeSeed()

// Line gives the line of the guide, from 0, on which a paragraph begins that says
// the same as p, but for case, white space and marks of Markdown.
func (g *Guide) Line(p string) (int, bool) {
	g.once.Do(g.read)
	var start [startLength]byte
	n := foldStart(p, start[:])
	if n < startLength || !g.starts[string(start[:n])] {
		return 0, false
	}
	folded := fold(p)
	if utf8.RuneCountInString(folded) < MinParagraph {
		return 0, false
	}
	line, ok := g.paragraphs[maphash.String(seed, folded)]
	return line, ok
}

func (g *Guide) read() {
	g.starts, g.paragraphs = map[string]bool{}, map[uint64]int{}
	t := text.New(g.Text)
	for s := range Paragraphs(t, text.Span{End: t.Len()}) {
		folded := fold(t.Slice(s))
		if utf8.RuneCountInString(folded) < MinParagraph {
			continue
		}
		var start [startLength]byte
		n := foldStart(t.Slice(s), start[:])
		g.starts[string(start[:n])] = true
		h := maphash.String(seed, folded)
		if _, seen := g.paragraphs[h]; !seen {
			g.paragraphs[h] = t.LineAt(s.Start)
		}
	}
}

// Paragraphs gives the paragraphs and list items of a part of a document, each
// without the line ending behind it. Headings and fenced code are none; tables and
// quotes are.
func Paragraphs(t *text.Text, part text.Span) func(yield func(text.Span) bool) {
	return func(yield func(text.Span) bool) {
		src := t.Slice(part)
		open := text.Span{Start: -1}
		fence := ""
		flush := func() bool {
			s := open
			open.Start = -1
			return s.Start < 0 || yield(s)
		}
		for at := 0; at < len(src); {
			end, next := len(src), len(src)
			if n := strings.IndexByte(src[at:], '\n'); n >= 0 {
				end, next = at+n, at+n+1
			}
			line := strings.TrimRight(src[at:end], " \t\r")
			bare := strings.TrimLeft(line, " \t")
			s := text.Span{Start: part.Start + at, End: part.Start + at + len(line)}
			at = next
			switch {
			case fence != "":
				if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
					fence = ""
				}
				continue
			case bare == "", bare[0] == '#':
				if !flush() {
					return
				}
				continue
			case bare[0] == '`' || bare[0] == '~':
				if mark := bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]; len(mark) >= 3 {
					if !flush() {
						return
					}
					fence = mark
					continue
				}
			}
			if open.Start >= 0 && listMark(bare) > 0 && !flush() {
				return
			}
			if open.Start < 0 {
				open.Start = s.Start
			}
			open.End = s.End
		}
		flush()
	}
}

// listMark gives the length of the mark that makes a line a list item, 0 where it
// has none.
func listMark(line string) int {
	digits := 0
	for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' && digits < 9 {
		digits++
	}
	rest := line[digits:]
	switch {
	case len(rest) < 2 || rest[1] != ' ' && rest[1] != '\t':
		return 0
	case digits == 0 && strings.IndexByte("-*+", rest[0]) >= 0, digits > 0 && (rest[0] == '.' || rest[0] == ')'):
		return digits + 2
	}
	return 0
}

// unfolded are the characters that make no difference.
var unfolded = func() (out [utf8.RuneSelf]bool) {
	for _, c := range []byte("*_`~#>|\\[] \t\r\n\v\f") {
		out[c] = true
	}
	return out
}()

// folded gives the characters of a paragraph as they are compared, one by one, until
// put says no: in lower case, without white space, marks of Markdown and the mark of
// a list.
func folded(p string, put func(r rune) bool) {
	p = strings.TrimLeft(p, " \t")
	for _, r := range p[listMark(p):] {
		switch {
		case r >= 0x80:
			if unicode.IsSpace(r) {
				continue
			}
			r = unicode.ToLower(r)
		case unfolded[r]:
			continue
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		}
		if !put(r) {
			return
		}
	}
}

func fold(p string) string {
	var b strings.Builder
	folded(p, func(r rune) bool { b.WriteRune(r); return true })
	return b.String()
}

// foldStart puts the first folded bytes of p into buf and gives their number.
func foldStart(p string, buf []byte) int {
	n := 0
	folded(p, func(r rune) bool {
		var c [utf8.UTFMax]byte
		n += copy(buf[n:], c[:utf8.EncodeRune(c[:], r)])
		return n < len(buf)
	})
	return n
}
