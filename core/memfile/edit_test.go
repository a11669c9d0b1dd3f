package memfile

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"mem/core/text"
)

// setKey sets one key and gives the new text.
func setKey(t testing.TB, src, name, value string, form Form) string {
	t.Helper()
	edits, err := Parse(src).SetKey(name, value, form)
	if err != nil {
		t.Fatalf("setting %s in %q: %v", name, src, err)
	}
	out, ok := text.Apply(src, edits)
	if !ok {
		t.Fatalf("setting %s in %q gives edits that overlap: %v", name, src, edits)
	}
	return out
}

func TestSetKey(t *testing.T) {
	for _, c := range []struct{ name, src, key, value, want string }{
		{"replace", "---\nname: a\ntype: user\n---\n", "name", "b", "---\nname: b\ntype: user\n---\n"},
		{"a comment stays", "---\nname: a # why\n---\n", "name", "b", "---\nname: b # why\n---\n"},
		{"quotes where needed", "---\nname: a\n---\n", "name", "a: b # c", "---\nname: \"a: b # c\"\n---\n"},
		{"nested", "---\nname: a\nmetadata: \n  type: user\n---\n", "type", "project", "---\nname: a\nmetadata: \n  type: project\n---\n"},
		{"nested, new", "---\nname: a\nmetadata:\n    type: user # c\n# tail\nx: y\n---\n", "modified", "2026-11-30T11:42:25.169Z",
			"---\nname: a\nmetadata:\n    type: user # c\n    modified: 2026-11-30T11:42:25.169Z\n# tail\nx: y\n---\n"},
		{"nested, indented with tabs", "---\nname: a\nmetadata:\n\ttype: user\n---\n", "modified", "m", "---\nname: a\nmetadata:\n\ttype: user\n\tmodified: m\n---\n"},
		{"flat, new", "---\nname: a\ntype: user\n\n# tail\n---\nbody", "originSessionId", "s", "---\nname: a\ntype: user\n\n# tail\noriginSessionId: s\n---\nbody"},
		{"a session id needs no quotes", "---\nname: a\ntype: user\n---\n", "originSessionId", "1699bcea-277c-4ce7-9b12-5399f46852df",
			"---\nname: a\ntype: user\noriginSessionId: 1699bcea-277c-4ce7-9b12-5399f46852df\n---\n"},
		{"below metadata without keys", "---\nname: a\nmetadata:\n---\n", "type", "user", "---\nname: a\nmetadata:\n  type: user\n---\n"},
		{"beside metadata in braces", "---\nname: a\nmetadata: {type: user}\n---\n", "originSessionId", "s", "---\nname: a\nmetadata: {type: user}\noriginSessionId: s\n---\n"},
		{"description goes behind name", "---\ntype: user\nname: a\nx: y\n---\n", "description", "d", "---\ntype: user\nname: a\ndescription: d\nx: y\n---\n"},
		{"name goes first", "---\ndescription: d\n---\n", "name", "a", "---\nname: a\ndescription: d\n---\n"},
		{"empty frontmatter", "---\n---\nbody", "type", "user", "---\ntype: user\n---\nbody"},
		{"empty value", "---\nname:\ntype: user\n---\n", "name", "a", "---\nname: a\ntype: user\n---\n"},
		{"empty value with spaces", "---\nname:  \ntype: user\n---\n", "name", "a", "---\nname:  a\ntype: user\n---\n"},
		{"empty value before a comment", "---\nname:   # why\ntype: user\n---\n", "name", "a", "---\nname:   a # why\ntype: user\n---\n"},
		{"value below its key", "---\ndescription:\n  one\n  two\ntype: user\n---\n", "description", "d", "---\ndescription: d\ntype: user\n---\n"},
		{"block", "---\ndescription: |\n  one\n\n  two\n\ntype: user\n---\n", "description", "d", "---\ndescription: d\n\ntype: user\n---\n"},
		{"CRLF", "---\r\nname: a\r\n---\r\nbody\r\n", "type", "user", "---\r\nname: a\r\ntype: user\r\n---\r\nbody\r\n"},
		{"BOM", bom + "---\nname: a\n---\n", "name", "b", bom + "---\nname: b\n---\n"},
		{"the last duplicate counts", "---\nname: a\nname: b\n---\n", "name", "c", "---\nname: a\nname: c\n---\n"},
		{"below metadata before the top", "---\ntype: user\nmetadata:\n  type: project\n---\n", "type", "reference", "---\ntype: user\nmetadata:\n  type: reference\n---\n"},
		{"the same value heals broken YAML", "---\nname: a\ndescription: Rule: never\n---\n", "description", "Rule: never", "---\nname: a\ndescription: \"Rule: never\"\n---\n"},
		{"the same value changes nothing", "---\nname: \"a\" # c\n---\n", "name", "a", "---\nname: \"a\" # c\n---\n"},
		{"beside broken YAML", "---\nname: a\ndescription: Rule: never\n---\n", "name", "b", "---\nname: b\ndescription: Rule: never\n---\n"},
		{"beside an anchor", "---\nname: &x a\ndescription: *x\ntype: user\n---\n", "type", "project", "---\nname: &x a\ndescription: *x\ntype: project\n---\n"},
		{"all keys indented", "---\n  name: a\n---\n", "type", "user", "---\n  name: a\n  type: user\n---\n"},
		{"no frontmatter", "body\n", "name", "a", "---\nname: a\n---\n\nbody\n"},
		{"no frontmatter, blank line", "\nbody\n", "name", "a", "---\nname: a\n---\n\nbody\n"},
		{"no frontmatter, BOM and CRLF", bom + "body\r\n", "name", "a", bom + "---\r\nname: a\r\n---\r\n\r\nbody\r\n"},
		{"empty file", "", "name", "a", "---\nname: a\n---\n"},
		{"a body that opens with a rule", "---\nprose here now ok\n", "name", "a", "---\nname: a\n---\n\n---\nprose here now ok\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := setKey(t, c.src, c.key, c.value, FormFlat); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSetKeysKeepTheirOrderAndForm(t *testing.T) {
	kvs := []KeyValue{{"type", "user"}, {"description", "d"}, {"name", "a"}, {"originSessionId", "s"}}
	for form, want := range map[Form]string{
		FormFlat:   "---\ntype: user\ndescription: d\nname: a\noriginSessionId: s\n---\n\nx",
		FormNested: "---\ndescription: d\nname: a\nmetadata:\n  type: user\n  originSessionId: s\n---\n\nx",
	} {
		edits, err := Parse("x").SetKeys(kvs, form)
		if got, _ := text.Apply("x", edits); err != nil || got != want {
			t.Errorf("%s: %q %v", form, got, err)
		}
	}
}

// What cannot be set without touching another key is refused in words.
func TestSetKeyRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, key, say string }{
		{"unclosed", "---\nname: a\n", "name", "close it first"},
		{"in braces", "---\nmetadata: {type: user}\n---\n", "type", "inside braces"},
		{"anchor that another key uses", "---\nname: &x a\ndescription: *x\n---\n", "name", "rewrite it"},
		{"value that goes on at the margin", "---\ndescription: \"one\ntype: two\"\nname: a\n---\n", "description", "rewrite it"},
		{"lone CR", "---\nname: a\rtype: user\n---\n", "name", "rewrite it"},
		{"key with a colon", "---\nname: a\n---\n", "a: b", "cannot be the name"},
		{"key with a newline", "---\nname: a\n---\n", "a\nb", "cannot be the name"},
		{"key that is a boolean", "---\nname: a\n---\n", "yes", "cannot be the name"},
		{"empty key", "---\nname: a\n---\n", "", "cannot be the name"},
		{"the mapping itself", "---\nname: a\n---\n", "metadata", "by its own name"},
		{"a path", "---\nname: a\n---\n", "metadata.type", "by its own name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			edits, err := Parse(c.src).SetKey(c.key, "v", FormFlat)
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("edits %v, error %v", edits, err)
			}
		})
	}
	if _, err := Parse("---\nname: a\n---\n").SetKey("name", "\xff", FormFlat); err == nil {
		t.Error("a value that is no UTF-8 cannot be kept")
	}
}

// value draws strings that serialisers go wrong on.
func value() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "true", "No", "~", "null", "2026-01-01", "2026-11-30T11:42:25.169Z", "1", "-1.5e3", "0x1F", "12:30:45", ".inf",
			"# x", "a # b", "a: b", "a:", ": a", "- a", "? a", "[a]", "{a}", "\"a\"", "'a'", "a\"b", `a\b`, "`a`", "@a", "%a", "&a", "*a", "!a", "|", ">", "|-",
			" a", "a ", "\ta", "a\n", "a\nb", "\r\n", "\u2028", "a\u2029b", "\u0085", "\u00a0a", "\u3000", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\x00", "\x7f", "\u200b",
			"👩‍👩‍👧 ok", "\U0001fffe", "---", "--- a", "...", "=", "<<", "a,b", "y", "n", "é", "metadata:", "\u202eabc", "\\u0041", "<b>&amp;"}),
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune(" \t\n\r:#'\"\\-?[]{}|>&*!%@`~,=<ab1\u2028\u0085\ufeff中👍"))),
	).Filter(utf8.ValidString)
}

// The promise of a round trip: any value, set in a file of any shape, is read
// back, by us and by the YAML library, and every other byte is where it was.
func TestSetKeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(shapes).Draw(t, "shape")
		key := rapid.SampledFrom([]string{"name", "description", "type", "originSessionId", "modified", "custom"}).Draw(t, "key")
		v := value().Draw(t, "value")
		form := rapid.SampledFrom([]Form{FormNone, FormFlat, FormNested}).Draw(t, "form")
		f := Parse(c.src)
		edits, err := f.SetKey(key, v, form)
		if err != nil {
			return // TestSetKeyRefuses says which may
		}
		out, ok := text.Apply(c.src, edits)
		if !ok {
			t.Fatalf("edits overlap: %v", edits)
		}
		g := Parse(out)
		if got := g.Value(key); got != v {
			t.Fatalf("%q: %s is %q, want %q", out, key, got, v)
		}
		if !strings.HasSuffix(g.BodyText(), f.BodyText()) || strings.Trim(strings.TrimSuffix(g.BodyText(), f.BodyText()), "\r\n") != "" {
			t.Fatalf("the body was %q and is %q", f.BodyText(), g.BodyText())
		}
		if f.Front != nil {
			otherLinesStay(t, f, out, edits)
		}
		if len(f.Problems) == 0 {
			agreesWithYAML(t, g, key, v)
		}
	})
}

// otherLinesStay checks that only the line of one key differs.
func otherLinesStay(t *rapid.T, f *File, out string, edits []text.Edit) {
	back, ok := text.Apply(out, text.Invert(f.Text.String(), edits))
	if !ok || back != f.Text.String() {
		t.Fatalf("the edits cannot be taken back: %q", back)
	}
	for _, e := range edits {
		touched := false
		for _, k := range f.Front.Keys {
			touched = touched || k.Raw == e.Span
		}
		if !touched && e.Len() > 0 {
			t.Fatalf("the edit %v replaces more than one value", e)
		}
	}
}

func agreesWithYAML(t *rapid.T, g *File, key, want string) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(g.Text.Slice(g.Front.YAML)), &doc); err != nil {
		if strings.Contains(err.Error(), "already defined") {
			return // the file had a duplicate
		}
		t.Fatalf("the YAML library refuses %q: %v", g.Text.Slice(g.Front.YAML), err)
	}
	got, ok := doc[key]
	if m, nested := doc[MetadataKey].(map[string]any); nested && !topOnly(key) && m[key] != nil {
		got, ok = m[key], true
	}
	if got == nil && ok && want == "" {
		return // "~"
	}
	if s, str := got.(string); (!str || s != want) && !(key == "modified" && clientTime().MatchString(want)) {
		t.Fatalf("the YAML library reads %v (%v) for %s in %q, want %q", got, ok, key, g.Text.Slice(g.Front.YAML), want)
	}
}
