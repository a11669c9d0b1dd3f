package memfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/text"
)

func TestEntries(t *testing.T) {
	type entry struct {
		Title, Target, Summary string
		List                   bool
		Lines                  string
	}
	for _, c := range []struct {
		name, src string
		want      []entry
	}{
		{"list", "- [A](a.md) — says a\n* [B](b.md) - says b\n+ [C](c.md) – c\n- [D](d.md) -- d\n- [E](e.md): e\n- [F](f.md)\n", []entry{
			{"A", "a.md", "says a", true, "- [A](a.md) — says a\n"}, {"B", "b.md", "says b", true, "* [B](b.md) - says b\n"},
			{"C", "c.md", "c", true, "+ [C](c.md) – c\n"}, {"D", "d.md", "d", true, "- [D](d.md) -- d\n"},
			{"E", "e.md", "e", true, "- [E](e.md): e\n"}, {"F", "f.md", "", true, "- [F](f.md)\n"}}},
		{"dash in the summary", "- [A](a.md) — x — y - z\n", []entry{{"A", "a.md", "x — y - z", true, "- [A](a.md) — x — y - z\n"}}},
		{"numbered", "1. [A](a.md) — x\n2) [B](b.md)\n", []entry{{"A", "a.md", "x", true, "1. [A](a.md) — x\n"}, {"B", "b.md", "", true, "2) [B](b.md)\n"}}},
		{"nested", "- Group\n  - [A](a.md) — x\n    - [B](b.md)\n", []entry{{"A", "a.md", "x", true, "  - [A](a.md) — x\n"}, {"B", "b.md", "", true, "    - [B](b.md)\n"}}},
		{"bold", "- **[A](a.md)** — x\n- **[B](b.md):** y\n", []entry{{"A", "a.md", "x", true, "- **[A](a.md)** — x\n"}, {"B", "b.md", "y", true, "- **[B](b.md):** y\n"}}},
		{"words before the link", "- Build: see [A](a.md) — x\n", []entry{{"A", "a.md", "x", true, "- Build: see [A](a.md) — x\n"}}},
		{"table", "| T | S |\n|---|---|\n| [A](a.md) | says a | more |\n", []entry{{"A", "a.md", "says a", false, "| [A](a.md) | says a | more |\n"}}},
		{"heading and prose", "## [A](a.md)\nSee [B](b.md) for more.\n", []entry{{"A", "a.md", "", false, "## [A](a.md)\n"}, {"B", "b.md", "for more.", false, "See [B](b.md) for more.\n"}}},
		{"two links on a line", "- [A](a.md), [B](b.md)\n", []entry{{"A", "a.md", ", [B](b.md)", true, "- [A](a.md), [B](b.md)\n"}}},
		{"link elsewhere first", "- [web](https://x.y) [A](a.md)\n", []entry{{"A", "a.md", "", true, "- [web](https://x.y) [A](a.md)\n"}}},
		{"continued", "- [A](a.md) — x\n  more of x\n\n  other\n- [B](b.md)\n", []entry{{"A", "a.md", "x more of x", true, "- [A](a.md) — x\n  more of x\n"}, {"B", "b.md", "", true, "- [B](b.md)\n"}}},
		{"title over two lines", "- [A\n  b](a.md) — x\n", []entry{{"A b", "a.md", "x", true, "- [A\n  b](a.md) — x\n"}}},
		{"brackets, anchor, CJK, spaces", "- [see [[\"e\"]]](x.md#y) — z\n- [部署](部署 说明.md) — 先测试\n", []entry{
			{`see [["e"]]`, "x.md", "z", true, "- [see [[\"e\"]]](x.md#y) — z\n"}, {"部署", "部署 说明.md", "先测试", true, "- [部署](部署 说明.md) — 先测试\n"}}},
		{"CRLF", "- [A](a.md) — x\r\n", []entry{{"A", "a.md", "x", true, "- [A](a.md) — x\r\n"}}},
		{"BOM", bom + "- [A](a.md)\n", []entry{{"A", "a.md", "", true, "- [A](a.md)\n"}}},
		{"no final newline", "- [A](a.md) — x", []entry{{"A", "a.md", "x", true, "- [A](a.md) — x"}}},
		{"other files are no topics", "- [A](a.txt)\n- [B](#b)\n- [[c]]\n", nil},
		{"in code and comments", "```\n- [A](a.md)\n```\n<!-- \n- [B](b.md)\n-->\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := ParseIndex(c.src)
			var got []entry
			for _, e := range x.Entries {
				got = append(got, entry{e.Title, e.Target, e.Summary, e.List, x.Text().Slice(e.Span)})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSummarySpan(t *testing.T) {
	for src, want := range map[string]string{
		"- [A](a.md) — says a  \n":        "says a",
		"- **[A](a.md):** x\n  more\n":    "x",
		"- [A](a.md)\r\n":                 "",
		"| [A](a.md) | says a | more |\n": "says a",
		bom + "- [部署](部署.md) — 先测试\r\n":   "先测试",
	} {
		x := ParseIndex(src)
		s := x.Entries[0].SummarySpan()
		if got := x.Text().Slice(s); got != want || want == "" && s.End != x.Text().Line(0).End {
			t.Errorf("%q: %q at %v, want %q", src, got, s, want)
		}
	}
}

func TestNotebook(t *testing.T) {
	for src, want := range map[string]bool{"": true, "# Notes\n\n- remember this\n": true, "- [A](a.md)\n": false, "see [[a]]\n": false, "![x](a.png)\n": true, "`[A](a.md)`\n": true} {
		if got := ParseIndex(src).Notebook(); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
	x := NoIndex()
	if x.Exists || x.Hash != "" || len(x.Entries) != 0 || !x.Notebook() {
		t.Errorf("%+v", x)
	}
	if x := ParseIndex(""); !x.Exists || x.Hash == "" {
		t.Error("an empty index exists")
	}
}

// newEntry is what the tests of Insert add.
const newEntry = "- [N](n.md) — new"

func insert(t testing.TB, src string) string {
	t.Helper()
	out, ok := text.Apply(src, ParseIndex(src).Insert(newEntry))
	if !ok {
		t.Fatal("edits overlap")
	}
	return out
}

func TestInsert(t *testing.T) {
	const n = newEntry + "\n"
	for _, c := range []struct{ name, src, want string }{
		{"first in the list", "# I\n\n- [A](a.md)\n- [B](b.md)\n", "# I\n\n" + n + "- [A](a.md)\n- [B](b.md)\n"},
		{"in the list with the most links", "# A\n- [A](a.md)\n# B\n- [B](b.md)\n- [C](c.md)\n# C\n- [D](d.md)\n", "# A\n- [A](a.md)\n# B\n" + n + "- [B](b.md)\n- [C](c.md)\n# C\n- [D](d.md)\n"},
		{"the first of two equal lists", "# A\n- [A](a.md)\n# B\n- [B](b.md)\n", "# A\n" + n + "- [A](a.md)\n# B\n- [B](b.md)\n"},
		{"nested list", "- Group\n  - [A](a.md)\n  - [B](b.md)\n", "- Group\n  " + n + "  - [A](a.md)\n  - [B](b.md)\n"},
		{"at the top of a nested list", "- [A](a.md)\n  - [B](b.md)\n  - [C](c.md)\n", n + "- [A](a.md)\n  - [B](b.md)\n  - [C](c.md)\n"},
		{"stars", "* [A](a.md)\n", "* [N](n.md) — new\n* [A](a.md)\n"},
		{"plus", "+ [A](a.md)\n", "+ [N](n.md) — new\n+ [A](a.md)\n"},
		{"numbers", "1. [A](a.md)\n2. [B](b.md)\n", "1. [N](n.md) — new\n1. [A](a.md)\n2. [B](b.md)\n"},
		{"numbers in parentheses, by tab", "- x\n\t1) [A](a.md)\n", "- x\n\t1) [N](n.md) — new\n\t1) [A](a.md)\n"},
		{"CRLF", "- [A](a.md)\r\n", newEntry + "\r\n- [A](a.md)\r\n"},
		{"BOM", bom + "- [A](a.md)\n", bom + n + "- [A](a.md)\n"},
		{"no final newline", "- [A](a.md)", n + "- [A](a.md)"},
		{"notebook", "# Notes\n\n- remember\n", "# Notes\n\n" + n + "\n- remember\n"},
		{"notebook, text right below", "# Notes\ntext\n", "# Notes\n\n" + n + "\ntext\n"},
		{"notebook, underlined heading", "Notes\n=====\ntext\n", "Notes\n=====\n\n" + n + "\ntext\n"},
		{"notebook, heading at the end", "# Notes", "# Notes\n\n" + n},
		{"notebook, heading at the end, newline", "# Notes\n", "# Notes\n\n" + n},
		{"notebook, CRLF", "# Notes\r\ntext\r\n", "# Notes\r\n\r\n" + newEntry + "\r\n\r\ntext\r\n"},
		{"notebook, a heading only in a fence", "```\n# no\n```\n", n + "\n```\n# no\n```\n"},
		{"notebook without heading", "text\n", n + "\ntext\n"},
		{"notebook without heading, blank line first", "\ntext\n", n + "\ntext\n"},
		{"empty", "", n},
		{"only a BOM", bom, bom + n},
		{"only blank lines", "\n\n", n + "\n\n"},
		{"only frontmatter", "---\nname: a\n---\n", "---\nname: a\n---\n" + n},
		{"only frontmatter, no newline", "---\nname: a\n---", "---\nname: a\n---\n" + n},
		{"only a comment", "<!-- c -->\n", n + "\n<!-- c -->\n"},
		{"a table is no list", "# I\n\n| [A](a.md) | x |\n|---|---|\n", "# I\n\n" + n + "\n| [A](a.md) | x |\n|---|---|\n"},
		{"a list in a comment is none", "<!--\n- [A](a.md)\n-->\n- [B](b.md)\n", "<!--\n- [A](a.md)\n-->\n" + n + "- [B](b.md)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := insert(t, c.src)
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if e := ParseIndex(got).Entry("n.md"); e == nil || e.Title != "N" || e.Summary != "new" || !e.List {
				t.Errorf("read back as %+v", e)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a line", "- [A](a.md)\n- [N](n.md) — x\n- [B](b.md)\n", "- [A](a.md)\n- [B](b.md)\n"},
		{"with its continuation", "- [N](n.md) — x\n  more\n- [B](b.md)\n", "- [B](b.md)\n"},
		{"all of them", "- [N](n.md)\n- [A](a.md)\n- [N](./n.md#x)\n", "- [A](a.md)\n"},
		{"the last, no final newline", "- [A](a.md)\n- [N](n.md)", "- [A](a.md)"},
		{"the last two, no final newline, CRLF", "- [A](a.md)\r\n- [N](n.md)\r\n- [N](n.md)", "- [A](a.md)"},
		{"the only one, no final newline", "- [N](n.md)", ""},
		{"nested ones below stay", "- [N](n.md)\n  - [A](a.md)\n", "  - [A](a.md)\n"},
		{"from a line with others only the link", "- [N](n.md) and [A](a.md)\n", "- N and [A](a.md)\n"},
		{"second link of a line", "- [A](a.md), see [N](n.md)\n", "- [A](a.md), see N\n"},
		{"twice on a line", "- [N](n.md), again [N](n.md#x)\n- [A](a.md)\n", "- [A](a.md)\n"},
		{"in a table", "| [N](n.md) | x |\n|---|---|\n", "| N | x |\n|---|---|\n"},
		{"in a heading", "## [N](n.md)\ntext\n", "## N\ntext\n"},
		{"in prose", "See [N](n.md).\n", "See N.\n"},
		{"not there", "- [A](a.md)\n", "- [A](a.md)\n"},
		{"in code it is none", "`[N](n.md)`\n", "`[N](n.md)`\n"},
		{"BOM", bom + "- [A](a.md)\n- [N](n.md)\n", bom + "- [A](a.md)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := text.Apply(c.src, ParseIndex(c.src).Remove("n.md"))
			if !ok || got != c.want {
				t.Errorf("got  %q (%v)\nwant %q", got, ok, c.want)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct{ name, src, title, summary, want string }{
		{"both", "- [A](a.md) — old\n", "B", "new", "- [B](a.md) — new\n"},
		{"title alone", "- [A](a.md) — old\n", "B", "old", "- [B](a.md) — old\n"},
		{"nothing", "-  [A](a.md)  -  old \n", "A", "old", "-  [A](a.md)  -  old \n"},
		{"the dash stays", "* [A](a.md): old\r\n", "A", "new", "* [A](a.md): new\r\n"},
		{"emphasis stays", "1. **[A](a.md)** - old", "B", "new", "1. **[B](a.md)** - new"},
		{"a first summary", "- [A](a.md)\n", "A", "new", "- [A](a.md) — new\n"},
		{"a first summary behind emphasis", "- *[A](a.md)*\n", "A", "new", "- *[A](a.md)* — new\n"},
		{"a dash alone", "- [A](a.md) —\n", "A", "new", "- [A](a.md) — new\n"},
		{"no summary", "- **[A](a.md)** — old\n", "A", "", "- **[A](a.md)**\n"},
		{"continuation goes with the old summary", "- [A](a.md) — old\n  and more\n- [B](b.md)\n", "A", "new", "- [A](a.md) — new\n- [B](b.md)\n"},
		{"continuation, no final newline", "- [A](a.md) — old\r\n  more", "A", "new", "- [A](a.md) — new"},
		{"cells stay", "| [A](a.md) | old | x |\n", "B", "new", "| [B](a.md) | new | x |\n"},
		{"destination stays", "- [A](<./a.md>) — old\n", "B", "new", "- [B](<./a.md>) — new\n"},
		{"title with brackets", "- [A](a.md) — old\n", "B [", "new", "- [B](a.md) — new\n"},
		{"heading", "## [A](a.md)\n", "B", "new", "## [B](a.md)\n"},
		{"line folded", "- [A](a.md) — old\n", "B\nc", "new\nline", "- [B c](a.md) — new line\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := ParseIndex(c.src)
			got, ok := text.Apply(c.src, x.Rewrite(*x.Entry("a.md"), c.title, c.summary))
			if !ok || got != c.want {
				t.Errorf("got  %q (%v)\nwant %q", got, ok, c.want)
			}
		})
	}
}

// anyIndex draws an index out of pieces of every style.
func anyIndex() *rapid.Generator[string] {
	lines := []string{"# H", "## H [A](a.md)", "", "text", "- [A](a.md) — x", "- **[B](sub/b.md)** - y", "  - [C](c d.md)", "  more", "* [D](d.md)", "1. [E](e.md)", "| [F](f.md) | f |", "|---|---|",
		"<!--", "-->", "<!-- c -->", "```", "- item", "> - [G](g.md)", "See [A](a.md) and [B](b.md)", "[[wiki]]", "H", "===", "---", "    - [H](h.md)", "- [I\n  i](i.md)", "- `x"}
	return rapid.Custom(func(t *rapid.T) string {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(t, "lines"), eol)
		return rapid.SampledFrom([]string{"", bom}).Draw(t, "bom") + s + rapid.SampledFrom([]string{"", eol}).Draw(t, "end")
	})
}

func TestInsertThenRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := anyIndex().Draw(t, "index")
		x := ParseIndex(src)
		out, ok := text.Apply(src, x.Insert(newEntry))
		if !ok {
			t.Fatal("edits overlap")
		}
		y := ParseIndex(out)
		if y.Entry("n.md") == nil {
			t.Fatalf("the new entry is not read back from %q", out)
		}
		for _, e := range x.Entries {
			if y.Entry(e.Target) == nil {
				t.Fatalf("%s is lost in %q", e.Target, out)
			}
		}
		back, ok := text.Apply(out, y.Remove("n.md"))
		if !ok {
			t.Fatal("edits overlap")
		}
		if x.bestList() != nil && back != src {
			t.Fatalf("%q became %q and then %q", src, out, back)
		}
	})
}

// Rewriting touches one entry: all others are read as before.
func TestRewriteKeepsOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := anyIndex().Draw(t, "index")
		x := ParseIndex(src)
		if len(x.Entries) == 0 {
			return
		}
		i := rapid.IntRange(0, len(x.Entries)-1).Draw(t, "entry")
		out, ok := text.Apply(src, x.Rewrite(x.Entries[i], "New title", "new words"))
		if !ok {
			t.Fatal("edits overlap")
		}
		y := ParseIndex(out)
		if len(y.Entries) != len(x.Entries) {
			t.Fatalf("%q has other entries than %q", out, src)
		}
		for j, e := range y.Entries {
			want := x.Entries[j]
			if j == i {
				want.Title = "New title"
				if e.List {
					want.Summary = "new words"
				}
			}
			if e.Target != want.Target || e.Title != want.Title || (j != i || e.List) && e.Summary != want.Summary {
				t.Fatalf("entry %d of %q is %+v, want %+v", j, out, e, want)
			}
		}
	})
}
