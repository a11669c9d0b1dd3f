package memfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const bom = "\ufeff"

// shapes are the forms of frontmatter that real memory files have, with what a
// reader has to get out of them.
var shapes = []struct {
	name string
	src  string
	form Form
	meta Meta
	body string
	// problems are codes, or "code key".
	problems []string
}{
	{name: "flat", src: "---\nname: a-b\ndescription: One line\ntype: user\n---\n\nbody\n",
		form: FormFlat, meta: Meta{Name: "a-b", Description: "One line", Type: "user"}, body: "\nbody\n"},
	{name: "flat with session", src: "---\nname: a\ndescription: d\ntype: feedback\noriginSessionId: 0ad3f13d-311c-482e-ae28-cee069c09e6c\n---\nbody\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "d", Type: "feedback", OriginSessionID: "0ad3f13d-311c-482e-ae28-cee069c09e6c"}, body: "body\n"},
	{name: "nested, space behind the colon", src: "---\nname: a\ndescription: d\nmetadata: \n  node_type: memory\n  type: project\n  originSessionId: s\n  modified: 2026-11-30T11:42:25.169Z\n---\n\nbody\n",
		form: FormNested, meta: Meta{Name: "a", Description: "d", Type: "project", OriginSessionID: "s", Modified: "2026-11-30T11:42:25.169Z"}, body: "\nbody\n"},
	{name: "unquoted colon", src: "---\nname: a\ndescription: Rule: never do that\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "Rule: never do that", Type: "user"}, problems: []string{"frontmatter-syntax description"}},
	{name: "backtick", src: "---\nname: a\ndescription: `go vet` first\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "`go vet` first", Type: "user"}, problems: []string{"frontmatter-syntax description"}},
	{name: "at sign", src: "---\nname: a\ndescription: @ana owns it\nmetadata:\n  type: user\n---\n",
		form: FormNested, meta: Meta{Name: "a", Description: "@ana owns it", Type: "user"}, problems: []string{"frontmatter-syntax description"}},
	{name: "text behind a closing quote", src: "---\nname: a\ndescription: \"Fast\" is not enough\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: `"Fast" is not enough`, Type: "user"}, problems: []string{"frontmatter-syntax description"}},
	{name: "unclosed bracket", src: "---\nname: [draft\ndescription: \"x\"\n---\nbody\n",
		meta: Meta{Name: "[draft", Description: "x"}, body: "body\n", problems: []string{"frontmatter-syntax name"}},
	{name: "several broken values", src: "---\nname: @a\ndescription: `b`: c\ntype: user\n---\n", form: FormFlat,
		meta: Meta{Name: "@a", Description: "`b`: c", Type: "user"}, problems: []string{"frontmatter-syntax name", "frontmatter-syntax description"}},
	{name: "stub", src: "---\nname: \"\"\ndescription: \"\"\ntype: \"\"\n---\n", form: FormFlat},
	{name: "null is no value", src: "---\nname: ~\ndescription: null\ntype: user\n---\n", form: FormFlat, meta: Meta{Type: "user"}},
	{name: "quotes", src: "---\nname: 'it''s'\ndescription: \"has: colon # \\u00e9\\x41\" # a comment\ntype: user # another\n---\n",
		form: FormFlat, meta: Meta{Name: "it's", Description: "has: colon # éA", Type: "user"}},
	{name: "blank lines before the fence", src: "\n\n---\nname: a\n---\nbody\n", meta: Meta{Name: "a"}, body: "body\n"},
	{name: "BOM", src: bom + "---\nname: a\ntype: user\n---\nbody\n", form: FormFlat, meta: Meta{Name: "a", Type: "user"}, body: "body\n"},
	{name: "BOM and a blank line", src: bom + "\n---\nname: a\n---\nbody\n", meta: Meta{Name: "a"}, body: "body\n"},
	{name: "CRLF", src: "---\r\nname: a\r\ndescription: d\r\nmetadata:\r\n  type: user\r\n---\r\n\r\nbody\r\n",
		form: FormNested, meta: Meta{Name: "a", Description: "d", Type: "user"}, body: "\r\nbody\r\n"},
	{name: "spaces behind the fences", src: "--- \nname: a\n---\t\nbody", meta: Meta{Name: "a"}, body: "body"},
	{name: "CJK", src: "---\nname: 部署\ndescription: 先测试，再部署：不要跳过\ntype: user\n---\n正文\n",
		form: FormFlat, meta: Meta{Name: "部署", Description: "先测试，再部署：不要跳过", Type: "user"}, body: "正文\n"},
	{name: "empty file"},
	{name: "only a BOM", src: bom},
	{name: "only blank lines", src: "\n\n", body: "\n\n"},
	{name: "no frontmatter", src: "# Title\n\nname: a\n", body: "# Title\n\nname: a\n"},
	{name: "only a fence", src: "---", body: "---"},
	{name: "empty frontmatter", src: "---\n---\nbody\n", body: "body\n"},
	{name: "a rule, then prose", src: "---\nThis text opens with a rule.\n\n---\nmore\n", body: "---\nThis text opens with a rule.\n\n---\nmore\n"},
	{name: "a rule, then prose with a colon", src: "---\nSummary: all is well\n\nprose\n", body: "---\nSummary: all is well\n\nprose\n"},
	{name: "two rules around prose with a colon", src: "---\nNote: read this\nand this too\n---\nmore\n", body: "---\nNote: read this\nand this too\n---\nmore\n"},
	{name: "a rule, then a heading and prose", src: "---\n\n# Title\n\nprose\n", body: "---\n\n# Title\n\nprose\n"},
	{name: "unknown keys only", src: "---\ntitle: x\ntags: [a, b]\n---\nbody\n", body: "body\n"},
	{name: "unclosed", src: "---\nname: a\ntype: user\n\nbody\n", form: FormFlat, meta: Meta{Name: "a", Type: "user"}, body: "\nbody\n", problems: []string{"frontmatter-unclosed"}},
	{name: "unclosed to the end", src: "---\nname: a", meta: Meta{Name: "a"}, problems: []string{"frontmatter-unclosed"}},
	{name: "an indented fence closes nothing", src: "---\nname: a\ndescription: |\n  one\n  ---\n  two\ntype: user\n---\nbody\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "one\n---\ntwo\n", Type: "user"}, body: "body\n"},
	{name: "duplicate", src: "---\nname: a\ntype: user\nname: b\n---\n", form: FormFlat, meta: Meta{Name: "b", Type: "user"}, problems: []string{"key-duplicate name"}},
	{name: "duplicate below metadata", src: "---\nmetadata:\n  type: user\n  type: project\n---\n", form: FormNested, meta: Meta{Type: "project"}, problems: []string{"key-duplicate metadata.type"}},
	{name: "flat and nested disagree", src: "---\nname: a\ntype: user\nmetadata:\n  type: project\n---\n", form: FormNested, meta: Meta{Name: "a", Type: "project"}, problems: []string{"key-conflict type"}},
	{name: "flat and nested agree", src: "---\nname: a\ntype: user\nmetadata:\n  type: user\n---\n", form: FormNested, meta: Meta{Name: "a", Type: "user"}},
	{name: "metadata in braces", src: "---\nname: a\nmetadata: {type: user, node_type: memory}\n---\n", form: FormNested, meta: Meta{Name: "a", Type: "user"}},
	{name: "metadata without keys", src: "---\nname: a\nmetadata:\n---\n", form: FormNested, meta: Meta{Name: "a"}},
	{name: "folded block", src: "---\nname: a\ndescription: >-\n  one\n  two\n\n  three\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "one two\nthree", Type: "user"}},
	{name: "plain value on several lines", src: "---\nname: a\ndescription: one\n  two\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "one two", Type: "user"}},
	{name: "value below its key", src: "---\nname: a\ndescription:\n  one two\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "one two", Type: "user"}},
	{name: "anchor", src: "---\nname: &x a\ndescription: *x\nmetadata:\n  type: user\n---\n", form: FormNested, meta: Meta{Name: "a", Description: "a", Type: "user"}},
	{name: "anchor without a target", src: "---\nname: a\ndescription: *bold* text\ntype: user\n---\n",
		form: FormFlat, meta: Meta{Name: "a", Description: "*bold* text", Type: "user"}, problems: []string{"frontmatter-syntax description"}},
	{name: "second document is body", src: "---\nname: a\n---\nname: b\n---\nbody\n", meta: Meta{Name: "a"}, body: "name: b\n---\nbody\n"},
	{name: "tab before a nested key", src: "---\nname: a\nmetadata:\n\ttype: user\n---\n", form: FormNested, meta: Meta{Name: "a", Type: "user"}, problems: []string{"frontmatter-syntax metadata.type"}},
	{name: "tab behind the colon", src: "---\nname:\ta\ntype:\t user\n---\n", form: FormFlat, meta: Meta{Name: "a", Type: "user"}},
	{name: "all keys indented", src: "---\n  name: a\n  type: user\n---\nbody\n", form: FormFlat, meta: Meta{Name: "a", Type: "user"}, body: "body\n"},
	{name: "quoted key", src: "---\n\"name\": a\n'type': user\n---\n", form: FormFlat, meta: Meta{Name: "a", Type: "user"}},
	{name: "comments and blank lines", src: "---\n# head\n\nname: a\n# middle\nmetadata:\n  # inner\n\n  type: user\n  # last\n# tail\n---\n", form: FormNested, meta: Meta{Name: "a", Type: "user"}},
	{name: "list at the margin", src: "---\ntags:\n- one\n-\n  two\nname: a\n---\n", meta: Meta{Name: "a"}},
	{name: "control character", src: "---\nname: a\x01b\n---\n", meta: Meta{Name: "a\x01b"}, problems: []string{"frontmatter-syntax name"}},
	{name: "invalid UTF-8", src: "---\nname: a\n---\nx\xffy\n", meta: Meta{Name: "a"}, body: "x\xffy\n", problems: []string{"encoding"}},
	{name: "invalid UTF-8 in a value", src: "---\nname: a\xffb\n# \x80\n---\n", meta: Meta{Name: "a\ufffdb"}, problems: []string{"encoding"}},
	{name: "a real U+FFFD is valid", src: "---\nname: a\n---\nx\ufffdy\n", meta: Meta{Name: "a"}, body: "x\ufffdy\n"},
}

func TestParseShapes(t *testing.T) {
	for _, c := range shapes {
		t.Run(c.name, func(t *testing.T) {
			f := Parse(c.src)
			if f.Text.String() != c.src {
				t.Error("the text is not what was read")
			}
			if got := f.Form(); got != c.form {
				t.Errorf("form %q, want %q", got, c.form)
			}
			if d := cmp.Diff(c.meta, f.Meta()); d != "" {
				t.Error(d)
			}
			if got := f.BodyText(); got != c.body {
				t.Errorf("body %q, want %q", got, c.body)
			}
			var problems []string
			for _, p := range f.Problems {
				problems = append(problems, strings.TrimSpace(string(p.Code)+" "+p.Key))
				if p.Message == "" || p.Span.Start > p.Span.End || p.Span.End > len(c.src) {
					t.Errorf("problem without words or place: %+v", p)
				}
			}
			if d := cmp.Diff(c.problems, problems); d != "" {
				t.Error(d, f.Problems)
			}
		})
	}
}

func TestKeySpans(t *testing.T) {
	src := "---\nname: a # c\ntags:\n- x\n- y\n\nmetadata:\n  type: user\n  modified: \"m\"\n---\n"
	f := Parse(src)
	type key struct{ Path, Lines, Raw string }
	var got []key
	for _, k := range f.Front.Keys {
		got = append(got, key{k.Path(), f.Text.Slice(k.Span), f.Text.Slice(k.Raw)})
	}
	want := []key{
		{"name", "name: a # c\n", "a"},
		{"tags", "tags:\n- x\n- y\n", "\n- x\n- y"},
		{"metadata", "metadata:\n  type: user\n  modified: \"m\"\n", ""},
		{"metadata.type", "  type: user\n", "user"},
		{"metadata.modified", "  modified: \"m\"\n", `"m"`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What a strict parser refuses is told with the key and the way out.
func TestSyntaxMessages(t *testing.T) {
	for _, c := range []struct{ line, key, at, say string }{
		{"description: Rule: never", "description", "Rule: never", `the value of "description" is not valid YAML (it contains ": "). Put it in double quotes.`},
		{"description: ends with:", "description", "ends with:", `it contains ": "`},
		{"description: `x`", "description", "`x`", "it starts with '`'"},
		{"description: @x", "description", "@x", "it starts with '@'"},
		{"description: %x", "description", "%x", "it starts with '%'"},
		{"description: {x", "description", "{x", "it starts with '{'"},
		{"description: - item", "description", "- item", "it starts with '-'"},
		{"description: > text", "description", "> text", "it starts with '>'"},
		{"description: \"x\" y", "description", `"x" y`, "its quotes do not enclose all of it"},
		{"description: 'it's'", "description", "'it's'", "its quotes do not enclose all of it"},
		{"metadata:\n\ttype: user", "metadata.type", "\ttype: user", "indented with a tab"},
		{"metadata:\n  type: a: b", "metadata.type", "a: b", `"metadata.type"`},
		{"one two three four", "", "one two three four", "Move it into the body"},
	} {
		f := Parse("---\nname: a\n" + c.line + "\nother: \"x\"\n---\n")
		if len(f.Problems) != 1 || f.Problems[0].Code != Syntax {
			t.Errorf("%q: %v", c.line, f.Problems)
			continue
		}
		p := f.Problems[0]
		if p.Key != c.key || !strings.Contains(p.Message, c.say) || f.Text.Slice(p.Span) != c.at {
			t.Errorf("%q: key %q at %q: %s", c.line, p.Key, f.Text.Slice(p.Span), p.Message)
		}
		if !strings.Contains(p.Message, "Put ") && !strings.Contains(p.Message, "Move ") {
			t.Errorf("%q: no way out in %q", c.line, p.Message)
		}
	}
}

func TestLargeFrontmatterIsReadLeniently(t *testing.T) {
	f := Parse("---\nname: a\ndescription: \"" + strings.Repeat("x", maxFrontmatter) + "\"\ntype: user\n---\nbody\n")
	if m := f.Meta(); m.Name != "a" || m.Type != "user" || len(m.Description) != maxFrontmatter {
		t.Error(m.Name, m.Type, len(m.Description))
	}
	if len(f.Problems) != 1 || !strings.Contains(f.Problems[0].Message, "Move the text into the body") {
		t.Error(f.Problems)
	}
}

// A file of aliases that stand for each other stays as small as it is written.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\nname: n\na0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 60; i++ {
		prev := "*a" + string(rune('0'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		if i == 1 {
			prev = "*a0"
		}
		b.WriteString("k: &a" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + " [" + strings.Repeat(prev+", ", 8) + prev + "]\n")
	}
	b.WriteString("metadata: *a59\n---\n")
	if f := Parse(b.String()); f.Value("name") != "n" {
		t.Error(f.Meta())
	}
	// An alias that leads to itself.
	if f := Parse("---\nname: n\nmetadata: &m\n  metadata: *m\n---\n"); f.Value("name") != "n" {
		t.Error(f.Meta())
	}
}

func TestFrontmatterOpen(t *testing.T) {
	for src, want := range map[string]bool{
		"":                                 false,
		"# Title\n":                        false,
		"---\n":                            true,
		"---\n# comment\n":                 true,
		"---\nname: a\n":                   true,
		"---\ntitle: a\nodd line here x\n": true,
		"---\nname: a\n---\n":              false,
		"---\nprose without a key\n":       false,
	} {
		if got := Parse(src).FrontmatterOpen(); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}
