package memfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/text"
	"mem/internal/cputime"
)

func TestHeadings(t *testing.T) {
	type heading struct {
		Level               int
		Text, Line, Section string
	}
	for _, c := range []struct {
		name, src string
		want      []heading
	}{
		{"none", "text\n", nil},
		{"two", "lead\n# A\na\n## B ##\nb", []heading{{1, "A", "# A\n", "# A\na\n"}, {2, "B", "## B ##\n", "## B ##\nb"}}},
		{"at the end", "# A", []heading{{1, "A", "# A", "# A"}}},
		{"underlined", "A\n===\na\nB b\nc\n---\nb\n", []heading{{1, "A", "A\n===\n", "A\n===\n"}, {2, "a B b c", "a\nB b\nc\n---\n", "a\nB b\nc\n---\nb\n"}}},
		{"a word with a hash, underlined", "#A\n---\nx\n", []heading{{2, "#A", "#A\n---\n", "#A\n---\nx\n"}}},
		{"a hash without a space is text", "#A\n", nil},
		{"in a fence", "```\n# A\n```\n", nil},
		{"in a list or a quote", "- # A\n> # B\n", nil},
		{"in a comment", "<!--\n# A\n-->\n", nil},
		{"behind frontmatter", "---\nname: a\n---\n# A\n", []heading{{1, "A", "# A\n", "# A\n"}}},
		{"BOM", bom + "# A\nx", []heading{{1, "A", "# A\n", "# A\nx"}}},
		{"CRLF", "# A\r\nx\r\n# B\r\n", []heading{{1, "A", "# A\r\n", "# A\r\nx\r\n"}, {1, "B", "# B\r\n", "# B\r\n"}}},
		{"with a link", "## [A](a.md)\n", []heading{{2, "[A](a.md)", "## [A](a.md)\n", "## [A](a.md)\n"}}},
		{"a rule is none", "text\n\n---\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Parse(c.src)
			var got []heading
			for _, h := range f.Outline().Headings {
				got = append(got, heading{h.Level, h.Text, f.Text.Slice(h.Line), f.Text.Slice(h.Section)})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRegions(t *testing.T) {
	src := "a `b` <!-- c -->\n\n<!-- d\n\ne --> f\n\n``` sh\ng\n```\n\n- h\n\n  <!-- i -->\n\n      j\n\n<!-- never closed\n"
	f := Parse(src)
	o := f.Outline()
	cut := func(spans []text.Span) (out []string) {
		for _, s := range spans {
			out = append(out, f.Text.Slice(s))
		}
		return out
	}
	if d := cmp.Diff([]string{"`b`", "sh", "g\n", "j\n"}, cut(o.Code)); d != "" {
		t.Error("code", d)
	}
	if d := cmp.Diff([]string{"<!-- d\n\ne -->"}, cut(o.Comments)); d != "" {
		t.Error("comments", d)
	}
	if d := cmp.Diff([]string{"<!-- c -->", "<!-- i -->"}, cut(o.Hidden)); d != "" {
		t.Error("hidden", d)
	}
}

func TestIn(t *testing.T) {
	spans := []text.Span{{Start: 2, End: 4}, {Start: 4, End: 5}, {Start: 8, End: 9}}
	for at, want := range map[int]bool{0: false, 2: true, 3: true, 4: true, 5: false, 7: false, 8: true, 9: false} {
		if In(spans, at) != want {
			t.Errorf("In(%d) is %v", at, !want)
		}
	}
}

// Text nested too deep for goldmark is read line by line.
func TestOutlineByLine(t *testing.T) {
	deep := strings.Repeat("> ", maxMarkers+1) + "x\n"
	src := "# A\n" + deep + "```\n# no\n[n](n.md)\n```\n<!-- c\n# no\n-->\n## B #\n`[n](n.md)` [y](y.md)\n~~~\n[n](n.md)\n"
	f := Parse(src)
	o := f.Outline()
	var heads []string
	for _, h := range o.Headings {
		heads = append(heads, h.Text)
	}
	if d := cmp.Diff([]string{"A", "B"}, heads); d != "" {
		t.Error(d)
	}
	if h := o.Headings[0].Section; f.Text.Slice(h) != src[:strings.Index(src, "## B")] {
		t.Errorf("section %q", f.Text.Slice(h))
	}
	links := Links(f.Text, f.Body, o)
	if len(links) != 1 || links[0].Target != "y.md" {
		t.Error(links)
	}
	if len(o.Comments) != 1 {
		t.Error(o.Comments)
	}
}

func TestTooDeep(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      bool
	}{
		{"text", "a\n\nb\n", false},
		{"list of lists", "- a\n  - b\n    1. c\n", false},
		{"rule", strings.Repeat("- ", 40) + "\n" + strings.Repeat("=", 90) + "\n", false},
		{"border of a table", "+" + strings.Repeat("-----+", 40) + "\n", false},
		{"dots", strings.Repeat(".", 90), false},
		{"deep indent without a mark", strings.Repeat(" ", 200) + "x\n", false},
		{"quotes", strings.Repeat(">", 40) + "\n", true},
		{"lists in one line", strings.Repeat("- ", 40) + "x\n", true},
		{"numbers in one line", strings.Repeat("1. ", 40) + "x\n", true},
		{"mark at a deep indent", strings.Repeat(" ", 200) + "- x\n", true},
		{"few levels, many lines", "- - - - - x" + strings.Repeat("\n", 300_000), true},
		{"one level, many lines", strings.Repeat("- x\n", 300_000), false},
	} {
		if got := tooDeep([]byte(c.src)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// hostile gives texts of about n bytes on which parsers of Markdown take
// quadratic time.
func hostile(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var ticks, nested strings.Builder
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
	}
	for i := range 400 {
		nested.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return map[string]string{
		"one line": rep("word "), "spaces": rep(" "), "newlines": rep("\n"), "backslashes": rep(`\`), "NUL": rep("\x00"), "invalid": rep("\xff"),
		"open brackets": rep("["), "links without end": rep("]("), "empty links": rep("[]("), "more": rep("[](x "), "angles": rep("[](<"), "closed angles": rep("[](<>"),
		"wiki": rep("[[a"), "comments": rep("<!--"), "comment lines": rep("<!--\n"), "inline comments": rep("a<!-- "), "backticks": rep("` `` "), "growing backticks": ticks.String(),
		"quotes": rep(">"), "quote lines": rep(strings.Repeat(">", 16) + "\n"), "lists": rep("- ") + "x", "nested": nested.String() + rep("\n"), "nested text": nested.String() + rep("a\n"),
		"blank lists": rep("- a\n\n\n"), "lazy quotes": "> > > > > > > > x\n" + rep("a\n"), "emphasis": rep("*a "), "definitions": rep("[a]: b\n"), "tables": rep("|a|b|\n"),
		"tags": rep("<a\n"), "fences": rep("```\n"), "underlines": rep("a\n=\n"), "keys": "---\n" + rep("a: b\n"), "quoted keys": "---\n" + rep("a: \"b\"\n") + "---\n",
		"metadata": "---\nmetadata:\n" + rep("  a: b\n") + "---\n", "fence, then blank": "---\nname: a\n" + rep("\n") + "---\n", "index": rep("- [a](a.md) — summary\n"), "summary lines": "- [a](a.md)\n" + rep("  more\n"),
	}
}

// Reading cannot hurt: a quarter of a megabyte of anything takes some hundredths
// of a second, where goldmark alone takes up to a minute. The bound leaves room for
// the race detector on a slow machine.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	texts := hostile(1 << 18)
	texts["a line of 12 MB"] = "---\nname: a\n---\n- [a](a.md) " + strings.Repeat("x [", 4<<20)
	for name, src := range texts {
		took := cputime.Of(t, func() {
			x := ParseIndex(src)
			x.Insert("- [n](n.md)")
			x.Remove("a.md")
			_, _ = x.File.SetKey("name", "b", FormFlat)
		})
		if took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}
