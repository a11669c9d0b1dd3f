package text

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mem/internal/cputime"
)

// columnOf counts a column from the start of the line, one character after the other.
func columnOf(t *Text, offset int, enc Encoding) Position {
	i := t.LineAt(offset)
	if offset == t.Len() {
		i = t.lastLine()
	}
	line := t.Line(i)
	n := 0
	for at := line.Start; at < min(offset, line.End); {
		r, size := utf8.DecodeRuneInString(t.src[at:line.End])
		if at += size; at > min(offset, line.End) {
			break
		}
		n += enc.units(r, size)
	}
	return Position{i, n}
}

// Columns of long lines are the same as when they are counted, between lines of any
// length and with bytes that are no UTF-8.
func TestColumnsOfLongLines(t *testing.T) {
	long := strings.Repeat("昨天 we did 𝄞 it\xff\xe4\xb8 é. ", 150)
	for name, src := range map[string]string{
		"one line":      long,
		"ASCII":         strings.Repeat("0123456789", 500) + "\r\n",
		"several lines": BOM + "a\r\n" + long + "\r\n中\n" + long + "\xe4\xb8\n\n" + long + "\xf0\x9f",
		"no UTF-8":      strings.Repeat("\xe4\xb8", 2000),
	} {
		x := New(src)
		for offset := 0; offset <= len(src); offset += 1 + offset%3 {
			for _, enc := range encodings {
				if got, want := x.Position(offset, enc), columnOf(x, offset, enc); got != want {
					t.Fatalf("%s: offset %d in %s: %v, want %v", name, offset, enc, got, want)
				}
			}
		}
	}
}

// As many positions as a long line has words are found in a moment: to count each from
// the start of the line took seconds.
func TestManyPositionsInOneLine(t *testing.T) {
	src := strings.Repeat("昨天我们做了。", 50_000)
	x := New(src)
	took := cputime.Of(t, func() {
		for at := 0; at < len(src); at += 21 {
			if p := x.Position(at, UTF16); p.Character != at/3 {
				t.Fatalf("%v at %d", p, at)
			}
		}
	})
	if took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
