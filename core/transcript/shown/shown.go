// Package shown makes what a transcript says fit to be shown to a person or a
// model: without secrets, without characters that do not show, no longer than
// there is room for, and so that none of it can be taken for words of ours.
package shown

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/text"
)

// Cost is what a text takes of a budget, in quarters of a token: the larger of
// its estimated tokens and of its characters once escaped as JSON, so that a
// budget bounds both.
func Cost(s string) int {
	if n := len(s); n == 0 {
		return 0
	}
	return max(text.Weight(s))
}

// Plain gives text line by line as it is, with LF as line end, and what does not
// show escaped as Go escapes it: controls, which move a terminal's cursor, and
// marks that hide text or turn its direction.
func Plain(s string) string {
	if !strange(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte('\n')
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func strange(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return true
		}
	}
	return false
}

// hidden knows characters that do not show. Joiners stay: emoji and several
// scripts are written with them.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && r != '\u200d' && r != '\u200c' &&
		(unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u3164' || r == '\u115f' || r == '\u1160')
}

// Line gives text on one line: runs of white space as one space, cut to a number
// of characters.
func Line(s string, most int) string {
	var b strings.Builder
	n, space := 0, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		i += size
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == utf8.RuneError && size == 1:
			piece = string(utf8.RuneError)
		case hidden(r):
			piece = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if space {
			piece, space = " "+piece, false
		}
		c := utf8.RuneCountInString(piece)
		if n+c > most-1 && (n+c > most || strings.TrimSpace(s[i:]) != "") {
			return b.String() + "…"
		}
		n += c
		b.WriteString(piece)
	}
	return b.String()
}

// FirstLine is the first line of a text that is not blank, as Line gives it.
func FirstLine(s string, most int) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if i := strings.IndexAny(s, "\n\r"); i >= 0 {
		s = s[:i]
	}
	return Line(s, most)
}

// Fence puts text into a fenced block of Markdown that nothing in it can end. It
// begins and ends with a line of its own.
func Fence(s string) string {
	s = Plain(s)
	mark := strings.Repeat("`", max(3, run(s)+1))
	end := "\n"
	if strings.HasSuffix(s, "\n") {
		end = ""
	}
	return mark + "text\n" + s + end + mark + "\n"
}

// Code puts one line of text into a code span of Markdown that nothing in it can
// end, cut to a number of characters.
func Code(s string, most int) string {
	s = Line(s, most)
	if s == "" {
		return "` `"
	}
	n := run(s)
	mark := strings.Repeat("`", n+1)
	if n > 0 {
		return mark + " " + s + " " + mark
	}
	return mark + s + mark
}

// run is the longest run of backquotes in s.
func run(s string) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// Count gives a number with the word that fits it: "1 turn", "1,200 turns".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + more
}

// Number gives a number with commas between thousands.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// gap is what stands where a text was shortened.
func gap(chars int) string {
	return fmt.Sprintf("\n[… %s left out …]\n", Count(chars, "character is", "characters are"))
}
