package shown

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"mem/core/guard"
	"pgregory.net/rapid"
)

var token = "ghp_" + "wJ4rT9xKq2Lm8Vb5Nc7Zd1Fg3Hs6Pa0YuEiQ"

func redactor(t interface{ Fatal(...any) }) *Redactor {
	g, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewRedactor(g)
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\n":    "a\nb\nc\n",
		"\x1b[31mred":    `\x1b[31mred`,
		"a\u202eb\u2028": `a\u202eb` + "\n",
		"記憶 👩\u200d👩":    "記憶 👩\u200d👩",
		"\U000e0041":     `\U000e0041`,
		"bad \xff":       "bad \ufffd",
		"tab\there":      "tab\there",
		"nul\x00":        `nul\x00`,
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"  a \n\n b ", 10, "a b"}, {"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abcde…"}, {"記憶記憶", 3, "記憶…"}, {"", 5, ""}, {"abc   ", 3, "abc"},
	} {
		if got := Line(c.in, c.most); got != c.want {
			t.Errorf("%q gives %q, want %q", c.in, got, c.want)
		}
	}
}

// TestFence asks a Markdown parser where a fence ends: nothing in it is anything
// but text.
func TestFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			b.WriteString(rapid.SampledFrom([]string{"```", "````", "~~~", "\n", "\r", "\u2028", "# head", "<b>", " ", "text", "`", "\n```\n"}).Draw(t, "part"))
		}
		for _, made := range []string{Fence(b.String()), "x " + Code(b.String(), 100) + " y\n"} {
			var out strings.Builder
			if err := goldmark.Convert([]byte("before\n\n"+made+"\nafter\n"), &out); err != nil {
				t.Fatal(err)
			}
			html := out.String()
			if !strings.HasSuffix(html, "<p>after</p>\n") || strings.Contains(html, "<h1>") || strings.Contains(html, "<b>") || strings.Contains(html, "raw HTML") ||
				strings.Count(html, "<code") != 1 {
				t.Fatalf("%q became %s", made, html)
			}
		}
	})
}

func TestShorten(t *testing.T) {
	r := redactor(t)
	rapid.Check(t, func(t *rapid.T) {
		pad := rapid.SampledFrom([]string{"a", "word ", "記", "<", "\n", "\xff"}).Draw(t, "pad")
		s := strings.Repeat(pad, rapid.IntRange(0, 12_000).Draw(t, "before")) + " " + token + " " + strings.Repeat(pad, rapid.IntRange(0, 12_000).Draw(t, "after"))
		most := rapid.IntRange(100, 9000).Draw(t, "most")
		got, gone := r.Shorten(s, most)
		for n := 12; n <= len(token); n++ {
			if strings.Contains(got, token[:n]) && n > 11 || strings.Contains(got, token[len(token)-n:]) {
				t.Fatalf("a part of the secret shows: %q", got)
			}
		}
		// A secret that is cut at is taken out or in as a whole.
		if cost := Cost(strings.ToValidUTF8(got, "\ufffd")); cost > most+100 {
			t.Fatalf("it costs %d, more than %d", cost, most)
		}
		if strings.Contains(pad, "\xff") {
			return
		}
		if !utf8.ValidString(got) {
			t.Fatal("a character is cut")
		}
		if (gone > 0) != strings.Contains(got, " left out …]") {
			t.Fatalf("%d gone, but %q", gone, got)
		}
	})
}

func TestJSON(t *testing.T) {
	r := redactor(t)
	for in, want := range map[string]string{
		`{"b":1.50,"a":[true,null,"x\u0041"],"b":"<&>"}`: `{"b":1.50,"a":[true,null,"xA"],"b":"<&>"}`,
		`{"k":"` + token + `"}`:                          `{"k":"[redacted github-pat]"}`,
		`{"` + token + `":1}`:                            `{"[redacted github-pat]":1}`,
		`"\\\" \\"`:                                      `"\\\" \\"`,
		`{}`:                                             `{}`,
	} {
		got, _ := r.JSON(json.RawMessage(in), 10_000)
		if string(got) != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
	got, gone := r.JSON(json.RawMessage(`{"a":"`+strings.Repeat("z", 5000)+`"}`), 200)
	if !json.Valid(got) || gone < 4800 || len(got) > 260 {
		t.Errorf("%d gone: %s", gone, got)
	}
	// Only the key gives it away.
	got, _ = r.JSON(json.RawMessage(`{"api_key":"q8Zr2Lk7Wm4Xn9Bv3Jt6"}`), 1000)
	if strings.Contains(string(got), "q8Zr2Lk7") || !json.Valid(got) {
		t.Errorf("%s", got)
	}
	if s := r.Again("it is q8Zr2Lk7Wm4Xn9Bv3Jt6 there"); strings.Contains(s, "q8Zr2Lk7") {
		t.Error(s)
	}
}

func TestLongTexts(t *testing.T) {
	r := redactor(t)
	s := strings.Repeat("some words\n", 400_000)
	at := chunk - 20 // over the border of two parts
	s = s[:at] + " " + token + " " + s[at:]
	if got := r.Text(s); strings.Contains(got, token) || len(got) != len(s)-len(token)+len("[redacted github-pat]") {
		t.Errorf("%d bytes of %d", len(got), len(s))
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
