package fixes

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

func TestKebab(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "API Style": "api-style", "feedback_testing": "feedback-testing", "a--b": "a-b", "-a-": "a", "测试 规范": "测试-规范", "v1.2": "v1-2",
		"C#": "c", "🧪": "", "": "", "İ": "i", "e\u0301a": "e\u0301a", "\u0301a": "a", "con": "con", "it's": "it-s", "a\x00b": "a-b", "①": "",
	} {
		if got := Kebab(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		once := Kebab(name)
		if twice := Kebab(once); twice != once {
			t.Fatalf("%q: %q, then %q", name, once, twice)
		}
		if once != "" && len(once) < 60 && strings.ReplaceAll(memdir.Slug(once), "-note", "") != strings.ReplaceAll(once, "-note", "") {
			t.Fatalf("%q: memdir makes %q of %q", name, memdir.Slug(once), once)
		}
	})
}

// nasty draws values that a strict parser may refuse or read otherwise.
var nasty = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "fix", ": ", ":", " #", "#", "`", "@", "%", "*", "&", "!", "|", ">", "-", "- ", "? ", "[", "]", "{", "}", ",", "\"", "'", "''", "\\", "\\n", "\\x",
		" ", "\t", "测试", "🧪", "null", "~", "true", "0x1F", "2026-11-30", "<<", "=", "...", "\u2028", "\u0085", "\u200b", "\x7f", "é"})
	return strings.TrimSpace(strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "pieces"), ""))
})

// What quote-value writes, a strict parser reads as the lenient reader read it
// before; the rest of the file stays byte for byte.
func TestQuoteValueProperty(t *testing.T) {
	quoted := 0
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		indent := rapid.SampledFrom([]string{"", "metadata: " + eol + "  "}).Draw(t, "below")
		key := rapid.SampledFrom([]string{"name", "description", "type", "other"}).Draw(t, "key")
		comment := rapid.SampledFrom([]string{"", " # why"}).Draw(t, "comment")
		src := "---" + eol + "first: x" + eol + indent + key + ": " + nasty.Draw(t, "value") + comment + eol + "---" + eol + "body" + eol
		f := memfile.Parse(src)
		for _, p := range f.Problems {
			if p.Code != memfile.Syntax {
				continue
			}
			k := keyAt(f, p.Span)
			if behind, _, _ := strings.Cut(src[p.Span.End:], "\n"); strings.ContainsAny(behind, "\u2028\u0085") {
				continue // a comment that a parser takes for two lines is no fault of the value
			}
			e, ok := quoteEdit(f, p.Span)
			if !ok {
				if k != nil && utf8.ValidString(k.Value) {
					t.Fatalf("%q: the value at %v cannot be quoted", src, p.Span)
				}
				continue
			}
			after, ok := text.Apply(src, []text.Edit{e})
			if !ok || !strings.HasPrefix(after, src[:k.Raw.Start]) || !strings.HasSuffix(after, src[k.Raw.End:]) {
				t.Fatalf("%q becomes %q", src, after)
			}
			g := memfile.Parse(after)
			if same := keyLike(g, k); same == nil || same.Value != k.Value {
				t.Fatalf("%q becomes %q: lenient %+v, want %q", src, after, same, k.Value)
			}
			if got, err := strictly(g.Text.Slice(g.Front.YAML), k.Parent, k.Name); err != nil || got != k.Value {
				t.Fatalf("%q becomes %q: strict %q (%v), want %q", src, after, got, err, k.Value)
			}
			quoted++
		}
	})
	if quoted == 0 {
		t.Error("no value was ever quoted")
	}
}

func keyLike(f *memfile.File, like *memfile.Key) *memfile.Key {
	for i := range f.Front.Keys {
		if k := &f.Front.Keys[i]; k.Path() == like.Path() {
			return k
		}
	}
	return nil
}

// strictly reads one value as a YAML parser does.
func strictly(src, parent, name string) (string, error) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		return "", err
	}
	if parent != "" {
		below, ok := doc[parent].(map[string]any)
		if !ok {
			return "", fmt.Errorf("%s is %T", parent, doc[parent])
		}
		doc = below
	}
	s, ok := doc[name].(string)
	if !ok {
		return "", fmt.Errorf("%s is %T", name, doc[name])
	}
	return s, nil
}

// What join-description writes has the words of the old value on one line.
func TestJoinDescriptionProperty(t *testing.T) {
	joined := 0
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		head := rapid.SampledFrom([]string{"", ">", "|", ">-", "|+", "|2", "> # c", "word", "\"", "'", "!!str |", "&a >"}).Draw(t, "head")
		lines := rapid.SliceOfN(rapid.OneOf(nasty, rapid.SampledFrom([]string{"plain words", "", "  more", "end\"", "end'"})), 1, 4).Draw(t, "lines")
		value := head
		for _, l := range lines {
			value += eol + "  " + l
		}
		src := "---" + eol + "name: x" + eol + "description: " + value + eol + "type: user" + eol + "---" + eol + "body" + eol
		f := memfile.Parse(src)
		e, ok := joinEdit(f)
		if !ok {
			return
		}
		after, ok := text.Apply(src, []text.Edit{e})
		if !ok {
			t.Fatalf("%q: the edit does not apply", src)
		}
		g := memfile.Parse(after)
		got, err := strictly(g.Text.Slice(g.Front.YAML), "", "description")
		if err != nil && f.Value("description") != "" || got != memfile.OneLine(f.Value("description")) {
			t.Fatalf("%q becomes %q: %q (%v), want %q", src, after, got, err, memfile.OneLine(f.Value("description")))
		}
		if Multiline(g, g.Key("description")) {
			t.Fatalf("%q becomes %q, which is found again", src, after)
		}
		joined++
	})
	if joined == 0 {
		t.Error("nothing was ever joined")
	}
}

// A closing fence is added and nothing else; what was read of the keys stays.
func TestCloseFrontmatterProperty(t *testing.T) {
	line := rapid.SampledFrom([]string{"name: a", "type: user", "description: d", "metadata: ", "  type: user", "tags:", "- x", "  - y", "# note", "", "", "Text.", "Note: this",
		"note: this", "    code", "    key: v", "description: >", "  folded", "测试: 值", "https://a.b/c", "> quote", "* * *", "{a: b}"})
	closed := 0
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		src := "---" + eol + "name: x" + eol + strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), eol)
		f := memfile.Parse(src)
		e, ok := closeEdit(f)
		if !ok {
			return
		}
		after, ok := text.Apply(src, []text.Edit{e})
		if !ok || e.Len() != 0 || strings.Trim(e.New, "\r\n") != "---" {
			t.Fatalf("%q: %+v", src, e)
		}
		g := memfile.Parse(after)
		if !g.Front.Closed {
			t.Fatalf("%q becomes %q, which is open still", src, after)
		}
		for _, k := range f.Front.Keys {
			if g.Key(k.Name) == nil {
				t.Fatalf("%q becomes %q, without %q", src, after, k.Name)
			}
		}
		closed++
	})
	if closed == 0 {
		t.Error("nothing was ever closed")
	}
}
