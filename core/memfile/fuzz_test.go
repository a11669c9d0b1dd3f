package memfile

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"mem/core/text"
)

func FuzzParse(f *testing.F) {
	for _, c := range shapes {
		f.Add(c.src)
	}
	for _, s := range hostile(256) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p := Parse(src)
		if p.Text.String() != src || p.Body.End != len(src) || p.Body.Start > p.Body.End {
			t.Fatal("the file is not its parts")
		}
		checkProblems(t, p)
		if p.Front == nil {
			return
		}
		fm := p.Front
		if fm.Span.Start > fm.YAML.Start || fm.YAML.Start > fm.YAML.End || fm.YAML.End > fm.Span.End || fm.Span.End != p.Body.Start {
			t.Fatalf("spans out of order: %+v", fm)
		}
		end := fm.YAML.Start
		for _, k := range fm.Keys {
			if k.Parent == "" && k.Span.Start < end || k.Span.End > fm.YAML.End {
				t.Fatalf("key %+v lies outside or over another", k)
			}
			if k.Raw.Start < k.Span.Start || k.Raw.Start > k.Raw.End || k.Raw.End > k.Span.End {
				t.Fatalf("the value of %+v lies outside it", k)
			}
			if k.Parent == "" {
				end = k.Span.End
			}
		}
		readsAsTheLibrary(t, p)
	})
}

// readsAsTheLibrary checks that where no problem is reported, names and
// descriptions are what a YAML library reads.
func readsAsTheLibrary(t *testing.T, p *File) {
	if p.hasSyntaxProblem() || !p.Front.Closed || !utf8.ValidString(p.Text.Slice(p.Front.YAML)) {
		return
	}
	var doc map[string]yaml.Node
	err := yaml.Unmarshal([]byte(p.Text.Slice(p.Front.YAML)), &doc)
	if err != nil {
		if !strings.Contains(err.Error(), "already defined") && !strings.Contains(err.Error(), "invalid map key") {
			t.Fatalf("the library refuses %q: %v", p.Text.Slice(p.Front.YAML), err)
		}
		return
	}
	for _, key := range []string{"name", "description"} {
		n, ok := doc[key]
		if !ok && p.Value(key) != "" {
			t.Fatalf("%s is %q, and nothing to the library", key, p.Value(key))
		}
		if ok && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" && n.Value != p.Value(key) {
			t.Fatalf("%s is %q, and %q to the library", key, p.Value(key), n.Value)
		}
	}
}

func checkProblems(t *testing.T, p *File) {
	for _, pr := range p.Problems {
		if pr.Span.Start < 0 || pr.Span.Start > pr.Span.End || pr.Span.End > p.Text.Len() || pr.Message == "" {
			t.Fatalf("problem out of place: %+v", pr)
		}
	}
}

func FuzzSetKeys(f *testing.F) {
	for _, c := range shapes {
		f.Add(c.src, "description", "a: b # c")
		f.Add(c.src, "type", "user")
	}
	f.Fuzz(func(t *testing.T, src, key, value string) {
		p := Parse(src)
		edits, err := p.SetKey(key, value, FormFlat)
		if err != nil {
			return
		}
		out, ok := text.Apply(src, edits)
		if !ok {
			t.Fatalf("edits overlap: %v", edits)
		}
		q := Parse(out)
		if got := q.Value(key); got != value {
			t.Fatalf("%q: %s is %q, want %q", out, key, got, value)
		}
		if !strings.HasSuffix(out, src[p.Body.Start:]) || !strings.HasPrefix(out, src[:min(p.Body.Start, fmStart(p))]) {
			t.Fatalf("more than the frontmatter changed: %q", out)
		}
		again, err := q.SetKey(key, value, FormFlat)
		if err != nil || len(again) > 0 && value != "" {
			t.Fatalf("setting %q again in %q: %v %v", value, out, again, err)
		}
	})
}

func fmStart(p *File) int {
	if p.Front == nil {
		return p.Body.Start
	}
	return p.Front.YAML.Start
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range hostile(256) {
		f.Add(s)
	}
	for _, s := range []string{"# A\n\nb\n===\n", "[a](<b c> \"t\") `x` <!-- y -->", "- a\n  ```\n  [x](y)\n", "> # q\n", "[[a|b]] [c [[d]]](e%20f.md#g)", "\t- x\r\n", "\ufeff# A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p := Parse(src)
		for _, o := range []Outline{p.Outline(), outlineByLine(p.Text, p.Body)} {
			checkOutline(t, p, o)
			last := 0
			for _, l := range Links(p.Text, p.Body, o) {
				if l.Span.Start < last || l.Text.Start < l.Span.Start || l.Text.Start > l.Text.End || l.Dest.Start > l.Dest.End || l.Dest.End > l.Span.End || l.Span.End > p.Body.End {
					t.Fatalf("link out of order: %+v", l)
				}
				last = l.Span.End
			}
		}
	})
}

func checkOutline(t *testing.T, p *File, o Outline) {
	at := p.Body.Start
	for _, h := range o.Headings {
		if h.Line.Start < at || h.Line.End > h.Section.End || h.Section.Start != h.Line.Start || h.Level < 1 || h.Level > 6 {
			t.Fatalf("heading out of order: %+v", h)
		}
		at = h.Section.End
	}
	if len(o.Headings) > 0 && at != p.Body.End {
		t.Fatal("the last section does not reach the end")
	}
	for _, spans := range [][]text.Span{o.Code, o.Comments, o.Hidden} {
		at := p.Body.Start
		for _, s := range spans {
			if s.Start < at || s.End < s.Start || s.End > p.Body.End {
				t.Fatalf("region out of order: %v in %v", s, spans)
			}
			at = s.End
		}
	}
}

func FuzzIndex(f *testing.F) {
	for _, s := range []string{"", "# I\n\n- [A](a.md) — x\n  more\n* [B](b c.md)", "| [A](a.md) | x |\n|--|--|\n", "\ufeff1. **[A](a.md)**: y\r\n", "- [A\n  b](a.md), [N](n.md)", "```\n- [A](a.md)\n", "- [a](a.md) `\n- [b](b.md) `"} {
		f.Add(s, "title", "summary")
	}
	f.Fuzz(func(t *testing.T, src, title, summary string) {
		if !utf8.ValidString(title + summary) {
			return
		}
		x := ParseIndex(src)
		at := 0
		for _, e := range x.Entries {
			if e.Span.Start < at || e.Span.End > len(src) || e.Target == "" {
				t.Fatalf("entry out of order: %+v", e)
			}
			at = e.Span.End
			if _, ok := text.Apply(src, x.Rewrite(e, title, summary)); !ok {
				t.Fatalf("the edits of %+v overlap", e)
			}
		}
		had := x.Entry("fuzz-new.md") != nil
		out, ok := text.Apply(src, x.Insert(EntryLine(title, "fuzz-new.md", summary)))
		if !ok {
			t.Fatal("edits overlap")
		}
		y := ParseIndex(out)
		if x.bestList() == nil || had {
			return // whether a new list survives depends on what stands around it
		}
		if y.Entry("fuzz-new.md") == nil {
			t.Fatalf("the new entry is not read back from %q", out)
		}
		if back, ok := text.Apply(out, y.Remove("fuzz-new.md")); !ok || back != src {
			t.Fatalf("%q became %q and then %q", src, out, back)
		}
	})
}
