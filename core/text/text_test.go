package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLineTable(t *testing.T) {
	for _, c := range []struct {
		name, src string
		lines     []string // without endings
		full      []string // with them
		eol       string
	}{
		{"empty", "", nil, nil, "\n"},
		{"one line, no newline", "a", []string{"a"}, []string{"a"}, "\n"},
		{"one line", "a\n", []string{"a"}, []string{"a\n"}, "\n"},
		{"only a newline", "\n", []string{""}, []string{"\n"}, "\n"},
		{"no final newline", "a\nb", []string{"a", "b"}, []string{"a\n", "b"}, "\n"},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}, []string{"a\r\n", "b\r\n"}, "\r\n"},
		{"CRLF, no final newline", "a\r\nb", []string{"a", "b"}, []string{"a\r\n", "b"}, "\r\n"},
		{"a lone CR ends no line", "a\rb\n", []string{"a\rb"}, []string{"a\rb\n"}, "\n"},
		{"CR at the very end", "a\r", []string{"a\r"}, []string{"a\r"}, "\n"},
		{"CR CR LF", "a\r\r\n", []string{"a\r"}, []string{"a\r\r\n"}, "\r\n"},
		{"mostly LF", "a\nb\nc\r\n", []string{"a", "b", "c"}, []string{"a\n", "b\n", "c\r\n"}, "\n"},
		{"half and half is LF", "a\nb\r\n", []string{"a", "b"}, []string{"a\n", "b\r\n"}, "\n"},
		{"BOM belongs to the first line", BOM + "a\n", []string{BOM + "a"}, []string{BOM + "a\n"}, "\n"},
		{"separators of Unicode end no line", "a\u2028b\u0085c\n", []string{"a\u2028b\u0085c"}, []string{"a\u2028b\u0085c\n"}, "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := New(c.src)
			var lines, full []string
			for i := range x.Lines() {
				lines = append(lines, x.Slice(x.Line(i)))
				full = append(full, x.Slice(x.FullLine(i)))
			}
			if d := cmp.Diff(c.lines, lines); d != "" {
				t.Error("lines", d)
			}
			if d := cmp.Diff(c.full, full); d != "" {
				t.Error("full lines", d)
			}
			if x.EOL() != c.eol {
				t.Errorf("EOL %q, want %q", x.EOL(), c.eol)
			}
			if x.HasBOM() != strings.HasPrefix(c.src, BOM) {
				t.Error("HasBOM", x.HasBOM())
			}
		})
	}
}

func TestLineAt(t *testing.T) {
	x := New("ab\ncd\n")
	for offset, want := range map[int]int{-1: 0, 0: 0, 2: 0, 3: 1, 5: 1, 6: 1, 99: 1} {
		if got := x.LineAt(offset); got != want {
			t.Errorf("LineAt(%d) = %d, want %d", offset, got, want)
		}
	}
	// The line of any offset can be asked for, also where there is no line.
	for _, src := range []string{"", "a", "a\n"} {
		x := New(src)
		if s := x.Line(x.LineAt(len(src))); s.Start > s.End || s.End > len(src) {
			t.Errorf("the line at the end of %q is %v", src, s)
		}
		if s := x.FullLine(x.Lines()); s != (Span{len(src), len(src)}) {
			t.Errorf("the line past the end of %q is %v", src, s)
		}
	}
}

func TestSpan(t *testing.T) {
	s := Span{2, 5}
	if s.Len() != 3 || s.Contains(1) || !s.Contains(2) || !s.Contains(4) || s.Contains(5) {
		t.Error("a span is half-open")
	}
	if (Span{2, 2}).Contains(2) {
		t.Error("an empty span contains nothing")
	}
}

func TestWithEOL(t *testing.T) {
	for _, c := range [][3]string{
		{"a\r\nb\n", "\n", "a\nb\n"},
		{"a\r\nb\n", "\r\n", "a\r\nb\r\n"},
		{"", "\r\n", ""},
		{"a\rb", "\n", "a\rb"},
	} {
		if got := WithEOL(c[0], c[1]); got != c[2] {
			t.Errorf("WithEOL(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string
		ok    bool
	}{
		{"none", nil, "abcdef", true},
		{"any order", []Edit{{Span{4, 5}, "E"}, {Span{0, 1}, "A"}}, "AbcdEf", true},
		{"inserts at one place keep their order", []Edit{{Span{2, 2}, "1"}, {Span{2, 2}, "2"}}, "ab12cdef", true},
		{"insert before a replacement", []Edit{{Span{2, 2}, "1"}, {Span{2, 3}, "C"}}, "ab1Cdef", true},
		{"touching", []Edit{{Span{0, 2}, ""}, {Span{2, 4}, "x"}}, "xef", true},
		{"at the end", []Edit{{Span{6, 6}, "!"}}, "abcdef!", true},
		{"overlapping", []Edit{{Span{0, 3}, ""}, {Span{2, 4}, ""}}, "", false},
		{"backwards", []Edit{{Span{3, 2}, ""}}, "", false},
		{"before the start", []Edit{{Span{-1, 2}, ""}}, "", false},
		{"past the end", []Edit{{Span{5, 7}, ""}}, "", false},
		{"far past the end", []Edit{{Span{9, 9}, "x"}}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Apply("abcdef", c.edits)
			if got != c.want || ok != c.ok {
				t.Errorf("got %q %v, want %q %v", got, ok, c.want, c.ok)
			}
		})
	}
}

// document draws a text with the characters that edits go wrong on.
func document() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab \n\r\ufeffé中𝄞\u0301")))
}

// editsOf draws edits that Apply accepts.
func editsOf(t *rapid.T, src string) []Edit {
	var edits []Edit
	for at := 0; at <= len(src) && rapid.Bool().Draw(t, "more"); {
		start := rapid.IntRange(at, len(src)).Draw(t, "start")
		end := rapid.IntRange(start, len(src)).Draw(t, "end")
		edits = append(edits, Edit{Span{start, end}, document().Draw(t, "new")})
		at = end
	}
	return edits
}

func TestInvert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := document().Draw(t, "src")
		edits := editsOf(t, src)
		after, ok := Apply(src, edits)
		if !ok {
			t.Fatalf("edits in order are refused: %v", edits)
		}
		back, ok := Apply(after, Invert(src, edits))
		if !ok || back != src {
			t.Fatalf("%q became %q and back %q (%v)", src, after, back, ok)
		}
	})
}

func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := document().Draw(t, "from"), document().Draw(t, "to")
		edits := Diff(from, to)
		if got, ok := Apply(from, edits); !ok || got != to {
			t.Fatalf("the diff gives %q (%v)", got, ok)
		}
		if from == to && edits != nil {
			t.Fatalf("equal texts differ by %v", edits)
		}
		for _, e := range edits {
			if !utf8.ValidString(e.New) || !utf8.ValidString(from[e.Start:e.End]) {
				t.Fatalf("the edit %v cuts a character in two", e)
			}
		}
	})
}

func TestDiffIsSmall(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     []Edit
	}{
		{"abc", "abc", nil},
		{"abc", "abXc", []Edit{{Span{2, 2}, "X"}}},
		{"aaa", "aa", []Edit{{Span{2, 3}, ""}}},
		{"é", "è", []Edit{{Span{0, 2}, "è"}}}, // the first byte is common
		{"中a", "丮a", []Edit{{Span{0, 3}, "丮"}}},
		{"\xe4", "中", []Edit{{Span{0, 1}, "中"}}},
		{"", "x", []Edit{{Span{0, 0}, "x"}}},
	} {
		if d := cmp.Diff(c.want, Diff(c.from, c.to)); d != "" {
			t.Errorf("Diff(%q, %q): %s", c.from, c.to, d)
		}
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é中": 2, "𝄞": 2, "👍🏽": 4, "\xff\xfe": 2} {
		if got := UTF16Len(s); got != want {
			t.Errorf("UTF16Len(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestHash(t *testing.T) {
	// printf %s abc | sha256sum | cut -c1-32
	if got := Hash("abc"); got != "ba7816bf8f01cfea414140de5dae2223" {
		t.Error(got)
	}
	if Hash("") == Hash("\n") {
		t.Error("an empty file and an empty line are two things")
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", BOM + "\n\n", "\r\r\n\xff", "中\n𝄞"} {
		f.Add(s, "x\n")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x := New(a)
		var whole strings.Builder
		for i := range x.Lines() {
			whole.WriteString(x.Slice(x.FullLine(i)))
			if got := x.LineAt(x.FullLine(i).Start); got != i {
				t.Fatalf("the start of line %d is on line %d", i, got)
			}
		}
		if whole.String() != a {
			t.Fatal("the lines are not the document")
		}
		if got, ok := Apply(a, Diff(a, b)); !ok || got != b {
			t.Fatalf("the diff of %q and %q gives %q", a, b, got)
		}
	})
}

func TestBytes(t *testing.T) {
	for _, s := range []string{"", "a", "文\x00b"} {
		if got := Bytes(s); string(got) != s || cap(got) != len(s) {
			t.Errorf("%q is %q with room for %d", s, got, cap(got))
		}
	}
}
