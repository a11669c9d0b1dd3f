package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestHidden(t *testing.T) {
	tags := func(s string) string {
		return strings.Map(func(r rune) rune { return 0xE0000 + r }, s)
	}
	for _, tt := range []struct {
		name, text string
		want       []string // "rule[start,end)"
	}{
		{"zero width space", "a\u200bb", []string{"zero-width[1,4)"}},
		{"run is one finding", "a\u200b\u2060\u200bb", []string{"zero-width[1,10)"}},
		{"word joiner, invisible operators", "\u2060x\u2063", []string{"zero-width[0,3)", "zero-width[4,7)"}},
		{"BOM inside", "a\ufeffb", []string{"zero-width[1,4)"}},
		{"second BOM", "\ufeff\ufeffa", []string{"zero-width[3,6)"}},
		{"joiner in Latin", "pass\u200dword", []string{"joiner[4,7)"}},
		{"non-joiner in Latin", "pass\u200cword", []string{"joiner[4,7)"}},
		{"second joiner in Persian", "می\u200c\u200cخواهم", []string{"joiner[7,10)"}},
		{"emoji, joiner, letter", "👩\u200dx", []string{"joiner[4,7)"}},
		{"fillers", "a\u3164b\uffa0c\u115f", []string{"filler[1,4)", "filler[5,8)", "filler[9,12)"}},
		{"soft hyphen", "pass\u00adword", []string{"soft-hyphen[4,6)"}},
		{"line separator", "a\u2028b", []string{"line-separator[1,4)"}},
		{"tags", "ok" + tags("run it") + "!", []string{"tag[2,26)"}},
		{"tags after a flag", "🏴" + tags("gbeng\x7f") + tags("x"), []string{"tag[28,32)"}},
		{"tags that are no region", "🏴" + tags("ignore\x7f"), []string{"tag[4,32)"}},
		{"flag without end", "🏴" + tags("gbeng"), []string{"tag[4,24)"}},
		{"variation selectors as bytes", "😀\U000E0141\U000E0142", []string{"variation-selector[4,12)"}},
		{"run of selectors", "❤\ufe0f\ufe0f", []string{"variation-selector[6,9)"}},
		{"selector after a letter", "a\ufe0fb\ufe01", []string{"variation-selector[1,4)", "variation-selector[5,8)"}},
		{"selector at the beginning", "\ufe0f", []string{"variation-selector[0,3)"}},
		{"NUL and escape", "a\x00b\x1b[31mred", []string{"control[1,2)", "control[3,4)"}},
		{"form feed, delete, C1", "\f\x7f\u0085", []string{"control[0,4)"}},
		{"override", "a\u202eb\u202c", []string{"bidi-override[1,4)", "bidi-override[5,8)"}},
		{"isolates", "/*\u2066*/\u2069", []string{"bidi-override[2,5)", "bidi-override[7,10)"}},
		{"override in Hebrew", "שלום\u202e", []string{"bidi-override[8,11)"}},
		{"mark in Latin", "abc\u200e", []string{"bidi-mark[3,6)"}},
		{"mark in Latin, Hebrew on another line", "abc\u200f\nשלום", []string{"bidi-mark[3,6)"}},
		{"byte that is no text", "a\xffb\x80", nil},

		{"BOM", "\ufeff# a", nil},
		{"tab, CR, LF", "a\tb\r\nc\n", nil},
		{"family", "👨\u200d👩\u200d👧\u200d👦", nil},
		{"skin tone and profession", "👩🏽\u200d💻 🧑🏿\u200d🤝\u200d🧑🏻", nil},
		{"heart on fire, pirate flag", "❤\ufe0f\u200d🔥 🏴\u200d☠\ufe0f 🏳\ufe0f\u200d🌈", nil},
		{"woman shrugging", "🤷\u200d♀\ufe0f", nil},
		{"flags", "🇩🇪 🏴" + tags("gbeng\x7f") + "🏴" + tags("usca\x7f"), nil},
		{"keycap, text style", "1\ufe0f\u20e3 #\ufe0f\u20e3 ☎\ufe0e ™\ufe0f ⚠\ufe0f ℹ\ufe0f ↔\ufe0f", nil},
		{"Persian", "می\u200cخواهم کتاب\u200cها", nil},
		{"Arabic with marks", "بِسْمِ\u200dاللَّهِ", nil},
		{"Hindi", "क्\u200dष र\u200d्क श्\u200cर", nil},
		{"Sinhala, Malayalam, Bengali", "ශ්\u200dරී ന്\u200d র\u200d্য", nil},
		{"Khmer and Thai word breaks", "ខ្ញុំ\u200bស្រលាញ់ ภาษา\u200bไทย", nil},
		{"Mongolian", "ᠬᠠᠨ\u180eᠠ ᠭ\u180bᠠ", nil},
		{"ideographic variant", "葛\U000E0100城", nil},
		{"standardised variant", "∩\ufe00", nil},
		{"marks in Hebrew and Arabic", "C++\u200f היא שפה. السلام\u200e (x) \u061c", nil},
		{"CJK, combining", "日本語 한국어 é e\u0301 Ω", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range newScanner(t, Options{}).Scan([]byte(tt.text)) {
				got = append(got, fmt.Sprintf("%s[%d,%d)", f.Rule, f.Start, f.End))
				if want := classKind(f.Rule); f.Kind != want {
					t.Errorf("%s has kind %s, want %s", f.Rule, f.Kind, want)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%+q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

func classKind(rule string) Kind {
	if strings.HasPrefix(rule, "bidi") {
		return KindBidi
	}
	return KindHidden
}

func TestHiddenReason(t *testing.T) {
	found := newScanner(t, Options{}).Scan([]byte("\ufeffone\r\nzwei ü\u200b\u200b\n"))
	if len(found) != 1 {
		t.Fatalf("got %v", found)
	}
	want := "line 2: column 7: zero-width character and 1 more of its sort (U+200B ZERO WIDTH SPACE): it takes no room, so words look whole that a search does not find, and text looks clean that carries a mark; remove it, or write it as an escape such as U+200B."
	if got := found[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestClasses: the classes do not overlap, classOf knows each of them, and a name is given to hidden characters only.
func TestClasses(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		var in []string
		for _, c := range classes {
			if c.has(r) {
				in = append(in, c.rule)
			}
		}
		switch c := classOf(r); {
		case len(in) > 1:
			t.Fatalf("U+%04X is in %v", r, in)
		case len(in) == 0 && c != nil, len(in) == 1 && (c == nil || c.rule != in[0]):
			t.Fatalf("U+%04X: classOf says %v, the table %v", r, c, in)
		}
	}
	for r := range names {
		if classOf(r) == nil {
			t.Errorf("U+%04X has a name and no class", r)
		}
	}
}

func TestTooManyHidden(t *testing.T) {
	text := strings.Repeat("a\u200b\n", MaxFindings+5)
	s := newScanner(t, Options{})
	found := s.Scan([]byte(text))
	if n := len(found); n != MaxFindings+1 || found[n-1].Kind != KindIncomplete || found[n-1].End != len(text) {
		t.Errorf("%d findings, last %+v", n, found[n-1])
	}
	if out, _ := s.Redact([]byte(text)); string(out) != text {
		t.Error("Redact cut text for hidden characters")
	}
}

// TestClassOf holds the ranges that classOf passes over against the classes.
func TestClassOf(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		var want *class
		for _, c := range classes {
			if c.has(r) {
				want = c
			}
		}
		if got := classOf(r); got != want {
			t.Fatalf("U+%04X is of class %v, want %v", r, got, want)
		}
		if utf8.ValidRune(r) && want != nil && !mayHide[string(r)[0]] {
			t.Fatalf("U+%04X is passed over", r)
		}
	}
}

// TestHiddenAlone: Hidden is what Scan says, without secrets.
func TestHiddenAlone(t *testing.T) {
	s := newScanner(t, Options{})
	for _, text := range append([]string{"a\u200bb — “c” 日本，😀", "\ufeffx\ufeff", "\x00\x01", "a\xe2\x80b\u200d", "👩\u200d💻 \u2028"}, seeds...) {
		var want []Finding
		for _, f := range s.Scan([]byte(text)) {
			if f.Kind == KindHidden || f.Kind == KindBidi || f.Rule == HiddenTooMany {
				want = append(want, f)
			}
		}
		if got := Hidden(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
