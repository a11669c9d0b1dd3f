package memory

import (
	"fmt"
	"unicode/utf8"

	"mem/core/text"
)

// Limits of one page. A client moves results of more than 50,000 characters or
// about 25,000 tokens into a file (observed 2026-11-30); a result holds a page
// twice, in words and in its structured part.
const (
	maxResultChars  = 22_000
	maxResultTokens = 10_000
)

// maxEscaped is the most characters that one byte takes once escaped as JSON.
const maxEscaped = 6

// weight is what a text costs in a result.
func weight(s string) (chars, quarterTokens int) { return text.Weight(s) }

// budget tells how much more fits into a result.
type budget struct{ chars, quarterTokens int }

func newBudget() *budget { return &budget{maxResultChars, 4 * maxResultTokens} }

// take reports whether a text fits and, if so, takes its room.
func (b *budget) take(s string) bool {
	c, q := weight(s)
	if c > b.chars || q > b.quarterTokens {
		return false
	}
	b.chars -= c
	b.quarterTokens -= q
	return true
}

// pageOf gives as much of s as fits, from offset on, cut at a line where it can
// be, and the offset where the next page starts, 0 at the end. taken is what else
// weighs on the result.
func pageOf(s string, offset, taken int) (page string, next int, err error) {
	if offset < 0 || offset > len(s) || (offset < len(s) && !utf8.RuneStart(s[offset])) {
		return "", 0, fmt.Errorf("the cursor does not fit this text; read it from the start")
	}
	rest := s[offset:]
	room := max(maxResultChars-taken, maxResultChars/4)
	if len(rest) <= room/maxEscaped {
		return rest, 0, nil // fits whatever it holds
	}
	chars, quarters, line := room, 4*maxResultTokens, 0
	for i, r := range rest {
		c, q := weight(string(r))
		if chars -= c; chars < 0 {
			return cutPage(rest, i, line, offset)
		}
		if quarters -= q; quarters < 0 {
			return cutPage(rest, i, line, offset)
		}
		if r == '\n' {
			line = i + 1
		}
	}
	return rest, 0, nil
}

func cutPage(rest string, at, line, offset int) (string, int, error) {
	if line > at/2 {
		at = line
	}
	return rest[:at], offset + at, nil
}
