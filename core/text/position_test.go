package text

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var encodings = []Encoding{UTF8, UTF16, UTF32}

func TestOffset(t *testing.T) {
	const mixed = "a中𝄞é\r\nβ👩🏽b\n"
	for _, c := range []struct {
		name   string
		src    string
		pos    Position
		want   [3]int // utf-8, utf-16, utf-32
		reason error  // in the encodings whose offset is negated minus 1
	}{
		{name: "start", src: mixed, want: [3]int{0, 0, 0}},
		{name: "behind ASCII", src: mixed, pos: Position{0, 1}, want: [3]int{1, 1, 1}},
		{name: "behind CJK", src: mixed, pos: Position{0, 2}, want: [3]int{^1, 4, 4}, reason: ErrInsideCharacter},
		{name: "behind or inside a clef", src: mixed, pos: Position{0, 3}, want: [3]int{^1, ^4, 8}, reason: ErrInsideCharacter},
		{name: "behind the clef", src: mixed, pos: Position{0, 4}, want: [3]int{4, 8, 10}},
		{name: "end of a CRLF line", src: mixed, pos: Position{0, 5}, want: [3]int{^4, 10, 10}, reason: ErrInsideCharacter},
		{name: "past it", src: mixed, pos: Position{0, 11}, want: [3]int{10, 10, 10}},
		{name: "far past it", src: mixed, pos: Position{0, 1 << 31}, want: [3]int{10, 10, 10}},
		{name: "second line", src: mixed, pos: Position{1, 0}, want: [3]int{12, 12, 12}},
		{name: "inside an emoji", src: mixed, pos: Position{1, 2}, want: [3]int{14, ^14, 18}, reason: ErrInsideCharacter},
		{name: "line after the final newline", src: mixed, pos: Position{2, 0}, want: [3]int{24, 24, 24}},
		{name: "past it", src: mixed, pos: Position{2, 7}, want: [3]int{24, 24, 24}},
		{name: "line past the last", src: mixed, pos: Position{3, 0}, want: [3]int{^24, ^24, ^24}, reason: ErrPastLastLine},
		{name: "far past the last", src: mixed, pos: Position{1 << 31, 5}, want: [3]int{^24, ^24, ^24}, reason: ErrPastLastLine},
		{name: "no final newline", src: "a\nb", pos: Position{1, 9}, want: [3]int{3, 3, 3}},
		{name: "no final newline, next line", src: "a\nb", pos: Position{2, 0}, want: [3]int{^3, ^3, ^3}, reason: ErrPastLastLine},
		{name: "empty", src: "", want: [3]int{0, 0, 0}},
		{name: "empty, past the end", src: "", pos: Position{0, 3}, want: [3]int{0, 0, 0}},
		{name: "empty, next line", src: "", pos: Position{1, 0}, want: [3]int{^0, ^0, ^0}, reason: ErrPastLastLine},
		{name: "only a newline", src: "\n", pos: Position{1, 0}, want: [3]int{1, 1, 1}},
		{name: "only CRLF", src: "\r\n", pos: Position{0, 1}, want: [3]int{0, 0, 0}},
		{name: "BOM is a character", src: BOM + "ab", pos: Position{0, 1}, want: [3]int{^0, 3, 3}, reason: ErrInsideCharacter},
		{name: "behind BOM and letter", src: BOM + "ab", pos: Position{0, 4}, want: [3]int{4, 5, 5}},
		{name: "a lone CR is a character", src: "a\rb\nc", pos: Position{0, 3}, want: [3]int{3, 3, 3}},
		{name: "and ends no line", src: "a\rb\nc", pos: Position{1, 1}, want: [3]int{5, 5, 5}},
		{name: "CR CR LF", src: "a\r\r\n", pos: Position{0, 9}, want: [3]int{2, 2, 2}},
		{name: "CR at the end", src: "a\r", pos: Position{0, 9}, want: [3]int{2, 2, 2}},
		{name: "separators of Unicode are characters", src: "\u2028\u0085x", pos: Position{0, 5}, want: [3]int{5, 6, 6}},
		{name: "invalid bytes count one each", src: "\xff\xe4\xb8x", pos: Position{0, 3}, want: [3]int{3, 3, 3}},
		{name: "half a character before the line ends", src: "\xe4\xb8\nx", pos: Position{0, 1}, want: [3]int{1, 1, 1}},
		{name: "an encoded surrogate is three bytes", src: "\xed\xa0\x80x", pos: Position{0, 3}, want: [3]int{3, 3, 3}},
		{name: "negative line", src: "ab\n", pos: Position{-1, 1}, want: [3]int{^1, ^1, ^1}, reason: ErrNegative},
		{name: "negative character", src: "ab\ncd", pos: Position{1, -1}, want: [3]int{^3, ^3, ^3}, reason: ErrNegative},
	} {
		for i, enc := range encodings {
			got, err := New(c.src).Offset(c.pos, enc)
			want, reason := c.want[i], error(nil)
			if want < 0 {
				want, reason = ^want, c.reason
			}
			if got != want || !errors.Is(err, reason) || (err == nil) != (reason == nil) {
				t.Errorf("%s: Offset(%q, %v, %s) = %d, %v; want %d, %v", c.name, c.src, c.pos, enc, got, err, want, reason)
			}
		}
	}
}

func TestPositionError(t *testing.T) {
	_, err := New("𝄞").Offset(Position{0, 1}, "")
	var pe *PositionError
	if !errors.As(err, &pe) || pe.Position != (Position{0, 1}) || pe.Encoding != UTF16 {
		t.Fatalf("%#v", err)
	}
	if want := "line 0, character 1 (utf-16, both from 0): it lies inside a character"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestPosition(t *testing.T) {
	for _, c := range []struct {
		name   string
		src    string
		offset int
		want   [3]Position
	}{
		{"empty", "", 0, [3]Position{}},
		{"before the start", "ab", -3, [3]Position{}},
		{"past the end", "a\nb", 99, [3]Position{{1, 1}, {1, 1}, {1, 1}}},
		{"end behind a final newline", "a\n", 2, [3]Position{{1, 0}, {1, 0}, {1, 0}}},
		{"the newline itself", "a\n", 1, [3]Position{{0, 1}, {0, 1}, {0, 1}}},
		{"between CR and LF", "a\r\nb", 2, [3]Position{{0, 1}, {0, 1}, {0, 1}}},
		{"behind CRLF", "a\r\nb", 3, [3]Position{{1, 0}, {1, 0}, {1, 0}}},
		{"behind a clef", "中𝄞x", 7, [3]Position{{0, 7}, {0, 3}, {0, 2}}},
		{"inside a clef", "中𝄞x", 5, [3]Position{{0, 3}, {0, 1}, {0, 1}}},
		{"last byte of a clef", "中𝄞x", 6, [3]Position{{0, 3}, {0, 1}, {0, 1}}},
		{"behind a BOM", BOM + "x", 3, [3]Position{{0, 3}, {0, 1}, {0, 1}}},
		{"inside a BOM", BOM + "x", 1, [3]Position{}},
		{"invalid bytes", "\xe4\xb8x", 2, [3]Position{{0, 2}, {0, 2}, {0, 2}}},
	} {
		for i, enc := range encodings {
			if got := New(c.src).Position(c.offset, enc); got != c.want[i] {
				t.Errorf("%s: Position(%q, %d, %s) = %v, want %v", c.name, c.src, c.offset, enc, got, c.want[i])
			}
		}
	}
}

func TestSpanOf(t *testing.T) {
	x := New("ab\n𝄞c\n")
	for _, c := range []struct {
		start, end Position
		want       Span
		reason     error
	}{
		{Position{0, 1}, Position{1, 2}, Span{1, 7}, nil},
		{Position{0, 0}, Position{2, 0}, Span{0, 9}, nil},
		{Position{0, 2}, Position{0, 99}, Span{2, 2}, nil},
		{Position{1, 0}, Position{1, 1}, Span{3, 3}, ErrInsideCharacter},
		{Position{1, 1}, Position{1, 3}, Span{3, 8}, ErrInsideCharacter},
		{Position{0, 0}, Position{3, 0}, Span{0, 9}, ErrPastLastLine},
		{Position{1, 0}, Position{0, 0}, Span{3, 3}, ErrBackwards},
		{Position{9, 0}, Position{0, 0}, Span{9, 9}, ErrPastLastLine},
	} {
		got, err := x.SpanOf(c.start, c.end, UTF16)
		if got != c.want || !errors.Is(err, c.reason) || (err == nil) != (c.reason == nil) {
			t.Errorf("%v–%v: %v, %v; want %v, %v", c.start, c.end, got, err, c.want, c.reason)
		}
	}
}

// characters gives the offsets that begin a character and the end, without those
// between "\r" and "\n", which no position names.
func characters(src string) []int {
	var out []int
	for i := range src {
		if i == 0 || src[i] != '\n' || src[i-1] != '\r' {
			out = append(out, i)
		}
	}
	return append(out, len(src))
}

// checkPositions compares with the plain definition: a position counts the units
// of what stands before it on its line.
func checkPositions(t interface{ Fatalf(string, ...any) }, src string) {
	x := New(src)
	for _, enc := range encodings {
		for _, o := range characters(src) {
			p := x.Position(o, enc)
			lineStart := strings.LastIndexByte(src[:o], '\n') + 1
			units := 0
			for i, r := range src[lineStart:o] {
				_, size := utf8.DecodeRuneInString(src[lineStart+i:])
				units += map[Encoding]int{UTF8: size, UTF16: UTF16Len(string(r)), UTF32: 1}[enc]
			}
			if want := (Position{strings.Count(src[:o], "\n"), units}); p != want {
				t.Fatalf("%s: position of %d in %q is %v, want %v", enc, o, src, p, want)
			}
			if back, err := x.Offset(p, enc); err != nil || back != o {
				t.Fatalf("%s: %d in %q is %v and back %d, %v", enc, o, src, p, back, err)
			}
		}
	}
}

func TestPositionsAndBack(t *testing.T) {
	bytes := rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"a", "bcdefghijk", "\n", "\r", "\r\n", BOM, "é", "中", "𝄞", "\u0301", "\xff", "\xe4\xb8"})),
		func(parts []string) string { return strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) { checkPositions(t, bytes.Draw(t, "src")) })
}

func FuzzPosition(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", BOM + "中\n\n", "\r\r\n\xff", "𝄞\n\xe4\xb8", "abcdefghijé"} {
		f.Add(s, 0, 1, 1, 0)
	}
	f.Fuzz(func(t *testing.T, src string, l1, c1, l2, c2 int) {
		if len(src) < 2000 { // the plain definition is quadratic
			checkPositions(t, src)
		}
		x := New(src)
		for _, enc := range append(encodings, "") {
			s, err := x.SpanOf(Position{l1, c1}, Position{l2, c2}, enc)
			if s.Start < 0 || s.Start > s.End || s.End > len(src) {
				t.Fatalf("%v, %v outside of %d bytes", s, err, len(src))
			}
			if utf8.ValidString(src) && !utf8.ValidString(x.Slice(s)) {
				t.Fatalf("%v splits a character of %q", s, src)
			}
			// What is found for a place that does not exist is the nearest one.
			if p := x.Position(s.Start, enc); err == nil && p != (Position{l1, c1}) && (p.Line != l1 || p.Character > c1) {
				t.Fatalf("%v became %v", Position{l1, c1}, p)
			}
		}
	})
}

// index25KB is an index at the limit of its readers, in ASCII but for the dash of
// its entries.
func index25KB() string {
	var b strings.Builder
	for i := 0; b.Len() < 25000; i++ {
		fmt.Fprintf(&b, "- [Topic number %d](topics/topic-%d.md) — what to know about part %d before it is changed, and why that is so\n", i, i, i)
	}
	return b.String()
}

func BenchmarkPositions(b *testing.B) {
	for name, src := range map[string]string{"index": index25KB(), "CJK": strings.Repeat("- [目录](目录.md) — 记忆由目录和主题组成,不要写入秘密\n", 300), "one line": strings.Repeat("0123456789", 2500)} {
		x := New(src)
		for _, enc := range encodings {
			b.Run(name+"/"+string(enc), func(b *testing.B) {
				at := 0
				for b.Loop() { // a place anywhere in the document, and back
					at = (at + 7919) % len(src)
					if _, err := x.Offset(x.Position(at, enc), enc); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// What LSP counts as lines: a "\r" alone ends one, too.
func TestProtocolLines(t *testing.T) {
	for _, c := range []struct {
		src    string
		offset int
		want   Position // in UTF-16
	}{
		{"a\rb\nc", 0, Position{0, 0}},
		{"a\rb\nc", 1, Position{0, 1}},
		{"a\rb\nc", 2, Position{1, 0}},
		{"a\rb\nc", 4, Position{2, 0}},
		{"a\r\r\nb", 2, Position{1, 0}},
		{"a\r\r\nb", 4, Position{2, 0}},
		{"a\r", 2, Position{1, 0}},
		{"\r", 1, Position{1, 0}},
		{"a\r\nb\r𝄞c", 9, Position{2, 2}},
		{BOM + "a\rb", 5, Position{1, 0}},
	} {
		lines := New(c.src).ProtocolLines()
		if got := lines.Position(c.offset, UTF16); got != c.want {
			t.Errorf("%q: offset %d is at %v, want %v", c.src, c.offset, got, c.want)
		}
		if got, err := lines.Offset(c.want, UTF16); got != c.offset || err != nil {
			t.Errorf("%q: %v is at %d, %v, want %d", c.src, c.want, got, err, c.offset)
		}
		if lines.String() != c.src || lines.ProtocolLines() != lines {
			t.Errorf("%q became another text", c.src)
		}
	}
	for _, src := range []string{"", "a", "a\nb", "a\r\nb\r\n"} {
		if plain := New(src); plain.ProtocolLines() != plain {
			t.Errorf("%q has no such line end", src)
		}
	}
}

// Every offset survives the way through the protocol's lines, whatever stands there.
func TestProtocolLinesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\r", "\n", "\r\n", "中", "𝄞", strings.Repeat("x", longLine)}), 0, 12).Draw(t, "src"), "")
		lines := New(src).ProtocolLines()
		for at := range len(src) + 1 {
			if at < len(src) && !utf8.RuneStart(src[at]) || at > 0 && at < len(src) && src[at-1] == '\r' && src[at] == '\n' {
				continue
			}
			for _, enc := range encodings {
				p := lines.Position(at, enc)
				if got, err := lines.Offset(p, enc); got != at || err != nil {
					t.Fatalf("%q: offset %d is at %v, which is at %d, %v", src, at, p, got, err)
				}
			}
		}
	})
}
