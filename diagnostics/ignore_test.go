package diagnostics_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mem/diagnostics"
)

// ignoresOf gives the ignore comments of a topic: form, rule, line, and the text of
// the name.
func ignoresOf(t *testing.T, src string) []string {
	t.Helper()
	d, err := open(map[string]string{"a.md": src}).snapshot(t).Doc("a.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range d.Ignores() {
		if !strings.Contains(d.File.Text.Slice(g.Comment), d.File.Text.Slice(g.Name)) {
			t.Errorf("%q is not in %q", d.File.Text.Slice(g.Name), d.File.Text.Slice(g.Comment))
		}
		if g.Rule != "" && g.Rule != d.File.Text.Slice(g.Name) {
			t.Errorf("%q stands where the name %q is", d.File.Text.Slice(g.Name), g.Rule)
		}
		out = append(out, fmt.Sprintf("%s:%s:%d", g.Form, g.Rule, g.Line+1))
	}
	return out
}

func TestIgnoreComments(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"one", "<!-- mem-ignore-next-line a -->\n", []string{"next-line:a:1"}},
		{"file", "text\n<!-- mem-ignore-file a -->\n", []string{"file:a:2"}},
		{"tight", "<!--mem-ignore-file a-->", []string{"file:a:1"}},
		{"several, comma or space", "<!-- mem-ignore-file a, b c,d -->\n", []string{"file:a:1", "file:b:1", "file:c:1", "file:d:1"}},
		{"over two lines", "<!-- mem-ignore-next-line\n  a\n-->\n", []string{"next-line:a:3"}},
		{"CRLF", "<!-- mem-ignore-next-line a -->\r\nx\r\n<!-- mem-ignore-next-line\r\nb -->\r\n", []string{"next-line:a:1", "next-line:b:4"}},
		{"BOM", "\ufeff<!-- mem-ignore-file a -->\n", []string{"file:a:1"}},
		{"inside a line", "- [x](y.md) <!-- mem-ignore-next-line a --> more <!-- mem-ignore-file b -->\n", []string{"next-line:a:1", "file:b:1"}},
		{"colon", "<!-- mem-ignore-file: a -->", []string{"file:a:1"}},
		{"reasons", "<!-- mem-ignore-file a, b -- why, c -->\n<!-- mem-ignore-file a: b -->\n<!-- mem-ignore-file a — b -->\n<!-- mem-ignore-file a--b -->\n",
			[]string{"file:a:1", "file:b:1", "file:a:2", "file:a:3", "file:a--b:4"}},
		{"a reason with marks", "<!-- mem-ignore-file a -- b < c, <d> -> e -->\n", []string{"file:a:1"}},
		{"only a reason", "<!-- mem-ignore-file -- a -->", []string{"file::1"}},
		{"YAML, reason", "---\n# mem-ignore-next-line a -- b\nname: x\n---\n", []string{"next-line:a:2"}},
		{"no name", "<!-- mem-ignore-file -->\n<!-- mem-ignore-next-line  -->", []string{"file::1", "next-line::2"}},
		{"no such form", "<!-- mem-ignore-line a b -->", []string{"line::1"}},
		{"code span", "`<!-- mem-ignore-file a -->`\n", nil},
		{"fence", "```\n<!-- mem-ignore-file a -->\n```\n", nil},
		{"indented code", "x\n\n    <!-- mem-ignore-file a -->\n", nil},
		{"other comments", "<!-- see mem-ignore-file a --> mem-ignore-file a <!-- mem-ignorefile a -->", nil},
		{"not closed", "<!-- mem-ignore-file a\n", nil},
		{"never closed, many", strings.Repeat("<!-- mem-ignore-file ", 20_000), nil},
		{"very long", "<!-- mem-ignore-file " + strings.Repeat("a", 2000) + " -->", nil},
		{"YAML", "---\nname: a\n# mem-ignore-next-line a, b\ntype: x\n  # mem-ignore-file c\n---\n", []string{"next-line:a:3", "next-line:b:3", "file:c:5"}},
		{"YAML, CRLF", "---\r\n#mem-ignore-next-line a \r\ntype: x\r\n---\r\n", []string{"next-line:a:2"}},
		{"YAML, behind a value", "---\nname: x # mem-ignore-file a\n---\n", nil},
		{"YAML, in a block", "---\nname: |\n  # mem-ignore-file a\ndescription: \"b\n  # mem-ignore-file c\"\n---\n", nil},
		{"HTML in YAML", "---\nname: <!-- mem-ignore-file a -->\n---\n", nil},
		{"YAML in the body", "# mem-ignore-file a\n", nil},
		{"both", "---\n# mem-ignore-file a\n---\n<!-- mem-ignore-file b -->\n", []string{"file:a:2", "file:b:4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ignoresOf(t, tt.src); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsIgnore(t *testing.T) {
	for comment, want := range map[string]bool{
		"<!-- mem-ignore-file a -->":             true,
		"  <!-- mem-ignore-next-line a, b -->\n": true,
		"<!--\nmem-ignore-file\na\n-->":          true,
		"<!-- mem-ignore-lines a -->":            true, // unknown-ignore speaks of it
		"<!-- a note -->":                        false,
		"<!-- a note on mem-ignore-file a -->":   false,
		"":                                       false,
	} {
		if got := diagnostics.IsIgnore(comment); got != want {
			t.Errorf("%q: %v", comment, got)
		}
	}
}

func TestIgnoreSilences(t *testing.T) {
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{word("red", "apple", diagnostics.Warning), word("green", "pear", diagnostics.Warning)}}
	for _, tt := range []struct{ name, src, want string }{
		{"the line below", "apple\n<!-- mem-ignore-next-line red -->\napple pear\napple\n", "a.md:1 warning red, a.md:3 warning green, a.md:4 warning red"},
		{"the file, from below", "apple\npear\n<!-- mem-ignore-file red -->\n", "a.md:2 warning green"},
		{"several", "<!-- mem-ignore-next-line red, green -->\napple pear\n", ""},
		{"below each other", "<!-- mem-ignore-next-line red -->\n<!-- mem-ignore-next-line green -->\napple pear\napple\n", "a.md:4 warning red"},
		{"over two lines", "<!-- mem-ignore-next-line\nred -->\napple\n", ""},
		{"at the end of a line", "- x <!-- mem-ignore-next-line red -->\n- apple\n", ""},
		{"a blank line between", "<!-- mem-ignore-next-line red -->\n\napple\n", "a.md:3 warning red"},
		{"YAML", "---\n# mem-ignore-next-line red\nname: apple\n---\napple\n", "a.md:5 warning red"},
		{"in code", "`<!-- mem-ignore-file red -->`\napple\n", "a.md:2 warning red"},
		{"wrong form", "<!-- mem-ignore-line red -->\napple\n", "a.md:2 warning red"},
		{"CRLF", "<!-- mem-ignore-next-line red -->\r\napple\r\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := check(t, e, open(map[string]string{"a.md": tt.src}).snapshot(t), diagnostics.Scope{})
			if got := shown(r.Findings); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A rule about comments is told which rules have run.
func TestIgnoresKnowWhatRan(t *testing.T) {
	var got []string
	watch := diagnostics.Rule{ID: "watch", Severity: diagnostics.Warning, Ignores: func(p *diagnostics.Pass, all []diagnostics.Ignore) {
		got = nil
		for _, g := range all {
			got = append(got, fmt.Sprintf("%s %v %v", g.Rule, p.Ran(g.Rule), g.Used))
		}
		if len(p.Known()) != 5 {
			t.Errorf("%d rules are known", len(p.Known()))
		}
	}}
	late := word("late", "x", diagnostics.Warning)
	late.Late = true
	broken := diagnostics.Rule{ID: "broken", Severity: diagnostics.Warning, Kinds: diagnostics.AllKinds, File: func(*diagnostics.Pass) { panic("x") }}
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{word("pears", "pear", diagnostics.Warning), word("off", "pear", diagnostics.Warning), late, broken, watch}}
	d := open(map[string]string{"a.md": "<!-- mem-ignore-next-line pears off late broken none -->\npear\n"})
	d.config.Severities = map[string]diagnostics.Severity{"off": diagnostics.Off}
	if _, err := e.Check(context.Background(), d.snapshot(t), diagnostics.Scope{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"pears true true", "off false false", "late false false", "broken false false", "none false false"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := e.Check(context.Background(), d.snapshot(t), diagnostics.Scope{Late: true}); err != nil {
		t.Fatal(err)
	}
	if got[2] != "late true false" {
		t.Errorf("%q", got)
	}
}

func TestParagraphs(t *testing.T) {
	src := "# Heading\n\nOne\ntwo.\n\n- item\n  goes on\n- next\n```\ncode\n\nmore\n```\n1. numbered\r\n\r\n> quote\n~~~\nx\n~~\n~~~\nlast"
	d, err := open(map[string]string{"a.md": src}).snapshot(t).Doc("a.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for s := range diagnostics.Paragraphs(d.File.Text, d.File.Body) {
		got = append(got, d.File.Text.Slice(s))
	}
	if want := []string{"One\ntwo.", "- item\n  goes on", "- next", "1. numbered", "> quote", "last"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for range diagnostics.Paragraphs(d.File.Text, d.File.Body) {
		break // may end early
	}
}

func TestGuideLine(t *testing.T) {
	g := &diagnostics.Guide{Path: "CLAUDE.md", Text: "# X\n\nShort one.\n\n1. Run all of the tests, and the linter too, before a commit.\n"}
	for p, want := range map[string]bool{
		"Run all of the tests, and the linter too, before a commit.":             true,
		"- **run ALL** of the\n  `tests`, and the linter too, before a\tcommit.": true,
		"Run all of the tests, and the linter too, before a commit. Go.":         false,
		"Short one.": false,
		"":           false,
	} {
		line, ok := g.Line(p)
		if ok != want || ok && line != 4 {
			t.Errorf("%q: %d %v", p, line, ok)
		}
	}
	if _, ok := (&diagnostics.Guide{}).Line(strings.Repeat("words and ", 10)); ok {
		t.Error("an empty guide says something")
	}
}
