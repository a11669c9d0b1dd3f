package rules_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

var frontRules = []string{"frontmatter-missing", "frontmatter-unclosed", "frontmatter-syntax", "frontmatter-beyond-scan", "name-missing", "name-not-slug",
	"description-missing", "description-multiline", "description-long", "type-missing", "type-unknown", "key-duplicate", "key-conflict"}

// Whatever the frontmatter holds: what is offered can be made, leaves the body byte
// for byte, and takes the finding away.
func TestFrontmatterFixesProperty(t *testing.T) {
	line := rapid.SampledFrom([]string{"name: t", "name: T_x", "name: \"\"", "name:", "'name': \"a: b\"", "description: d", "description: a: b", "description: `x`", "description: >-\n  folded: x\n\n  more",
		"description: one\n  two", "description: \"one\n  two\" # c", "description: 'a\nb'", "description: # c\n  two", "description: |2\n   x\n  # y\n", "description: \"a\\nb\"",
		"description:", "  folded: text", "  more # x", "description: \"a", "  b\"", "type: user", "type: semantic", "type: ref # c", "type:", "metadata:", "metadata: ", "  type: user",
		"  type: infra", "  type:", "\ttype: x", "  owner: @x", "metadata: {type: semantic}", "tags: [a, b]", "tags:", "- x", "  - y: z", "# note", "  # inner", "", "Text, no key.",
		"Note: this", "测试: 值🧪", "x: &a 1", "y: *a", "? k", ": v", "x: \xff", "<<: *a", "description: !!str |", "name: ~", "--- ", "..."})
	body := rapid.SampledFrom([]string{"", "\nText. More.\n", "# T\n\n- [a](b.md): x\n", "---\n\nrule\n", "```\ncode\n```", "第一句。第二句。\n", "\xff\n"})
	ctx := context.Background()
	e := &diagnostics.Engine{Rules: rules.All(), Fixes: fixes.All()}
	made := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		open := rapid.SampledFrom([]string{"---\n", "---\n", "---\n", "\n---\n", ""}).Draw(t, "open")
		closing := rapid.SampledFrom([]string{"---\n", "---\n", "---\n", ""}).Draw(t, "close")
		lines := rapid.SliceOfN(line, 0, 9).Draw(t, "lines")
		if len(lines) > 0 && rapid.Bool().Draw(t, "sound") { // one line that may be odd among sound ones
			lines = append([]string{"name: t", "description: d", "metadata:\n  type: user"}[:rapid.IntRange(0, 3).Draw(t, "n")], lines[0])
		}
		src := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom") +
			strings.ReplaceAll(open+strings.Join(lines, "\n")+"\n"+closing+body.Draw(t, "body"), "\n", eol)
		path := rapid.SampledFrom([]string{"t.md", "feedback_A b.md", "测试.md", "_.md"}).Draw(t, "path")
		check := func(src string) (*diagnostics.Snapshot, []diagnostics.Finding) {
			v, err := memdir.Read(ctx, fstest.MapFS{path: {Data: []byte(src), ModTime: diagtest.Now}}, nil, memdir.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: diagtest.Now}, nil)
			r, err := e.Check(ctx, s, diagnostics.Scope{})
			if err != nil || len(r.Failures) > 0 {
				t.Fatal(err, r.Failures)
			}
			return s, slices.DeleteFunc(r.Findings, func(f diagnostics.Finding) bool { return !slices.Contains(frontRules, f.Rule) })
		}
		s, found := check(src)
		before := memfile.Parse(src)
		for _, f := range found {
			for _, o := range f.Offers {
				c, err := e.Make(ctx, s, f, o)
				if err != nil {
					t.Fatalf("%q: %s offers %+v: %v", src, f.Rule, o, err)
				}
				after, err := c.Apply(map[string]string{path: src})
				if err != nil {
					t.Fatalf("%q: %+v: %v", src, o, err)
				}
				made[o.Fix]++
				kept := before.BodyText()
				if o.Fix == fixes.CloseFrontmatter {
					kept = "" // where the body starts is what it decides
				}
				if g := memfile.Parse(after[path]); !strings.HasSuffix(after[path], kept) || f.Rule != "frontmatter-unclosed" && o.Fix != fixes.CloseFrontmatter && strings.Trim(g.BodyText(), "\r\n") != strings.Trim(kept, "\r\n") {
					t.Fatalf("%q becomes %q by %+v: the body is another", src, after[path], o)
				}
				_, again := check(after[path])
				if n, m := count(again, f), count(found, f); n >= m {
					t.Fatalf("%q becomes %q by %+v: %s is found %d times, and was %d", src, after[path], o, f.Rule, n, m)
				}
			}
		}
	})
	if len(made) < 6 {
		t.Errorf("only these were offered: %v", made)
	}
}

// count counts the findings of a rule. Behind one fault of syntax another one may come
// up, so these have to say the same of the same place.
func count(found []diagnostics.Finding, like diagnostics.Finding) int {
	n := 0
	for _, f := range found {
		if f.Rule == like.Rule && (f.Rule != "frontmatter-syntax" || f.Message == like.Message && f.Span.Start == like.Span.Start) {
			n++
		}
	}
	return n
}
