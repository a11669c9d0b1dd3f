package text

import (
	"sort"
	"unicode/utf8"
)

// longLine is the length in bytes from which on a line is not counted from its start
// for each position in it: a thousand findings in one line would cost its square.
const longLine = 1 << 10

// between is about how many bytes lie between two checkpoints.
const between = 1 << 9

// checkpoint says how many units stand before the character that starts at an offset.
// They count from the start of the document: what lies between two offsets is their
// difference.
type checkpoint struct{ at, utf16, utf32 int }

func (c checkpoint) units(enc Encoding) int {
	switch enc {
	case UTF8:
		return c.at
	case UTF32:
		return c.utf32
	}
	return c.utf16
}

// checkpoints gives those of the document, in order, the first at its start. They are
// found when the first position in a long line is asked for.
func (t *Text) checkpoints() []checkpoint {
	t.counting.Do(func() {
		c := checkpoint{}
		t.counted = append(t.counted, c)
		for c.at < len(t.src) {
			last := t.counted[len(t.counted)-1]
			if c = t.next(c); c.at-last.at >= between {
				t.counted = append(t.counted, c)
			}
		}
	})
	return t.counted
}

// next gives the checkpoint behind the next character, or run of ASCII.
func (t *Text) next(c checkpoint) checkpoint {
	if n := asciiPrefix(t.src[c.at:min(len(t.src), c.at+between)]); n > 0 {
		return checkpoint{c.at + n, c.utf16 + n, c.utf32 + n}
	}
	r, size := utf8.DecodeRuneInString(t.src[c.at:])
	return checkpoint{c.at + size, c.utf16 + UTF16.units(r, size), c.utf32 + 1}
}

// before gives the last character that starts at or before an offset.
func (t *Text) before(offset int) checkpoint {
	all := t.checkpoints()
	c := all[sort.Search(len(all), func(i int) bool { return all[i].at > offset })-1]
	if n := asciiPrefix(t.src[c.at:offset]); n > 0 {
		c = checkpoint{c.at + n, c.utf16 + n, c.utf32 + n}
	}
	for c.at < offset {
		r, size := utf8.DecodeRuneInString(t.src[c.at:])
		if c.at+size > offset {
			break
		}
		c = checkpoint{c.at + size, c.utf16 + UTF16.units(r, size), c.utf32 + 1}
	}
	return c
}
