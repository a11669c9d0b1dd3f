package memfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/text"
)

func linksOf(src string) []Link {
	f := Parse(src)
	return Links(f.Text, f.Body, f.Outline())
}

func TestLinks(t *testing.T) {
	type link struct{ Text, Dest, Path string }
	one := func(text, dest, path string) []link { return []link{{text, dest, path}} }
	for _, c := range []struct {
		name, src string
		want      []link
	}{
		{"plain", "[A](a.md)", one("A", "a.md", "a.md")},
		{"sub-folder, dot, parent", "[A](./b/../b/a.md) [B](../x.md)", []link{{"A", "./b/../b/a.md", "b/a.md"}, {"B", "../x.md", "../x.md"}}},
		{"brackets in the text", `[The [["error"]] case](x.md)`, one(`The [["error"]] case`, "x.md", "x.md")},
		{"a name in the text", "[see [[b]]](x.md)", one("see [[b]]", "x.md", "x.md")},
		{"brackets are all of the text", "[[x]](y.md)", one("[x]", "y.md", "y.md")},
		{"escaped brackets", `\[not\](a.md) [a\]b](c.md)`, one(`a\]b`, "c.md", "c.md")},
		{"spaces", "[A](my notes.md)", one("A", "my notes.md", "my notes.md")},
		{"percent", "[A](my%20notes.md)", one("A", "my%20notes.md", "my notes.md")},
		{"a percent that encodes nothing", "[A](100%.md)", one("A", "100%.md", "100%.md")},
		{"encoded hash is part of the name", "[A](c%23.md#top)", one("A", "c%23.md#top", "c#.md")},
		{"parentheses", "[A](a (b).md) x)", one("A", "a (b).md", "a (b).md")},
		{"escaped parentheses", `[A](a\(b.md)`, one("A", `a\(b.md`, "a(b.md")},
		{"escaped underscore", `[A](a\_b.md)`, one("A", `a\_b.md`, "a_b.md")},
		{"backslash as a slash", `[A](sub\a.md)`, one("A", `sub\a.md`, "sub/a.md")},
		{"angle brackets", "[A](<a (b.md>) [B](<b.md#x> \"t\")", []link{{"A", "a (b.md", "a (b.md"}, {"B", "b.md#x", "b.md"}}},
		{"title", `[A](a.md "the (title)") [B](b.md 'x')`, []link{{"A", "a.md", "a.md"}, {"B", "b.md", "b.md"}}},
		{"CJK", "[部署](部署.md)", one("部署", "部署.md", "部署.md")},
		{"anchors", "[A](a.md#one) [B](#two)", []link{{"A", "a.md#one", "a.md"}, {"B", "#two", ""}}},
		{"elsewhere", "[1](https://x.y/a.md) [2](mailto:a@b.c) [3](/a.md) [4](C:/a.md) [5](~/a.md) [6](file:a.md) [7](\\\\host\\a.md)", []link{
			{"1", "https://x.y/a.md", ""}, {"2", "mailto:a@b.c", ""}, {"3", "/a.md", ""}, {"4", "C:/a.md", ""}, {"5", "~/a.md", ""}, {"6", "file:a.md", ""}, {"7", `\\host\a.md`, ""}}},
		{"empty", "[A]()", one("A", "", "")},
		{"empty text", "[](a.md)", one("", "a.md", "a.md")},
		{"several on a line", "[A](a.md), [B](b.md)", []link{{"A", "a.md", "a.md"}, {"B", "b.md", "b.md"}}},
		{"emphasis around", "**[A](a.md)** _[B](b.md)_", []link{{"A", "a.md", "a.md"}, {"B", "b.md", "b.md"}}},
		{"text over two lines", "see [the\nnotes](a.md)", one("the\nnotes", "a.md", "a.md")},
		{"text does not cross a blank line", "[the\n\nnotes](a.md)", nil},
		{"text does not cross items", "- [the\n- notes](a.md)", nil},
		{"a task is no link", "- [ ] [A](a.md)", one("A", "a.md", "a.md")},
		{"images are none", "![A](a.png) [![x](b.png)](c.md)", one("![x](b.png)", "c.md", "c.md")},
		{"but with a Markdown file", "Important![A](a.md)", one("A", "a.md", "a.md")},
		{"link in a link", "[a [B](b.md)](c.md)", one("B", "b.md", "b.md")},
		{"code span", "`[A](a.md)` [B](b.md)", one("B", "b.md", "b.md")},
		{"code span of two", "``[A](`a.md)`` x", nil},
		{"code span over a line end", "`[A](a.md)\n[B](b.md)` [C](c.md)", one("C", "c.md", "c.md")},
		{"a backtick alone is none", "` [A](a.md)", one("A", "a.md", "a.md")},
		{"an escaped backtick is none", "\\`[A](a.md)`", one("A", "a.md", "a.md")},
		{"fence", "```\n[A](a.md)\n```\n[B](b.md)", one("B", "b.md", "b.md")},
		{"words of a fence", "``` [A](a.md)\n```\n", nil},
		{"fence in a list", "- x\n\n  ```\n  [A](a.md)\n  ```\n\n- [B](b.md)", one("B", "b.md", "b.md")},
		{"tildes, unclosed", "[B](b.md)\n~~~\n[A](a.md)\n", one("B", "b.md", "b.md")},
		{"indented code", "text\n\n    [A](a.md)\n", nil},
		{"indented item is no code", "- x\n    - [A](a.md)\n", one("A", "a.md", "a.md")},
		{"comment block", "<!-- [A](a.md)\n\n[C](c.md) -->\n[B](b.md)", one("B", "b.md", "b.md")},
		{"comment in a line", "x <!-- [A](a.md) --> [B](b.md)", one("B", "b.md", "b.md")},
		{"comment in a list", "- x\n\n  <!-- [A](a.md) -->\n- [B](b.md)", one("B", "b.md", "b.md")},
		{"a comment never closed hides nothing", "<!-- [A](a.md)\n", one("A", "a.md", "a.md")},
		{"behind a comment", "<!-- c --> [A](a.md)", one("A", "a.md", "a.md")},
		{"table", "| Topic | What |\n|---|---|\n| [A](a.md) | x [B](b.md) |\n", []link{{"A", "a.md", "a.md"}, {"B", "b.md", "b.md"}}},
		{"heading", "## [A](a.md)\n", one("A", "a.md", "a.md")},
		{"wiki", "[[a]] [[ b c | shown ]] [[]] [[ ]] [[a", []link{{"a", "a", ""}, {" b c | shown ", "b c", ""}}},
		{"wiki with brackets", "[[[a]]]", one("a", "a", "")},
		{"not on one line", "[A](a\n.md)", nil},
		{"frontmatter is none", "---\nname: \"[A](a.md)\"\n---\n[B](b.md)", one("B", "b.md", "b.md")},
		{"CRLF", "[A](a.md)\r\n[B](b.md)\r\n", []link{{"A", "a.md", "a.md"}, {"B", "b.md", "b.md"}}},
		{"nothing", "[ ] ( ) ][ ]( [a] (b.md)", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Parse(c.src)
			var got []link
			for _, l := range linksOf(c.src) {
				got = append(got, link{f.Text.Slice(l.Text), f.Text.Slice(l.Dest), l.Path()})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What EncodeDest writes is read back as the same path, anchor or not.
func TestEncodeDest(t *testing.T) {
	for p, want := range map[string]string{
		"a.md": "a.md", "a b.md": "<a b.md>", "a(b).md": "<a(b).md>", "部署.md": "部署.md", "100%.md": "100%.md", "1% <2%>.md": "<1%25 %3C2%25%3E.md>", "a%20b.md": "a%2520b.md", "sub/x.md#top": "sub/x.md#top", "a b.md#x": "<a b.md#x>",
	} {
		got := EncodeDest(p)
		if got != want {
			t.Errorf("EncodeDest(%q) = %q, want %q", p, got, want)
		}
		plain, _, _ := strings.Cut(p, "#")
		if ls := linksOf("[x](" + got + ")"); len(ls) != 1 || ls[0].Path() != plain {
			t.Errorf("%q is read back as %+v", got, ls)
		}
	}
}

func TestEntryLine(t *testing.T) {
	for _, c := range [][4]string{
		{"A", "a.md", "what it says", "- [A](a.md) — what it says"},
		{"A", "a.md", "", "- [A](a.md)"},
		{" A\n b ", "a.md", "x\n\ty", "- [A b](a.md) — x y"},
		{"the [x] case", "a.md", "", "- [the [x] case](a.md)"},
		{"open [ only", "a.md", "", "- [open only](a.md)"},
		{"wrong ][ way", "a.md", "", "- [wrong way](a.md)"},
		{"use `x", "a.md", "and `y", "- [use x](a.md) — and `y"},
		{"`x` works", "a.md", "`y`", "- [`x` works](a.md) — `y`"},
		{`ends with \`, "a.md", "", "- [ends with](a.md)"},
		{"<!-- a", "a.md", "b -->", "- [-- a](a.md) — b -->"},
		{"[A](b.md)", "a.md", "", "- [A(b.md)](a.md)"},
		{"A", "a b.md", "s", "- [A](<a b.md>) — s"},
		{"C#", "c#.md", "s", "- [C#](c%23.md) — s"},
	} {
		if got := EntryLine(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("got %q, want %q", got, c[3])
		}
	}
}

func TestEntryLineIsAnEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.StringOf(rapid.SampledFrom([]rune("ab []()`\\<>!-*_#|\n中👍"))).Draw(t, "title")
		target := rapid.StringMatching(`[a-z0-9 ()%#_中-]{1,12}\.md`).Draw(t, "target")
		summary := rapid.StringOf(rapid.SampledFrom([]rune("ab []()`\\<>!-*_#|\n中👍"))).Draw(t, "summary")
		if strings.TrimSpace(target) != target {
			return
		}
		line := EntryLine(title, target, summary)
		x := ParseIndex(line + "\n")
		if len(x.Entries) != 1 || x.Entries[0].Target != target || !x.Entries[0].List {
			t.Fatalf("%q is read as %+v", line, x.Entries)
		}
		if strings.Contains(line, "\n") {
			t.Fatalf("%q has more than a line", line)
		}
		if x.Entry("other.md") != nil || x.Notebook() {
			t.Fatal("one entry")
		}
	})
}

func TestEncodeTarget(t *testing.T) {
	for _, c := range []struct{ path, anchor, want, raw string }{
		{"a.md", "", "a.md", "a.md"},
		{"a.md", "#b", "a.md#b", "a.md"},
		{"c#.md", "", "c%23.md", "c#.md"},
		{"c# notes (old).md", "#b", "<c%23 notes (old).md#b>", "c# notes (old).md"},
		{"100%23.md", "", "100%2523.md", "100%23.md"},
		{"风格.md", "#为什么", "风格.md#为什么", "风格.md"},
	} {
		got := EncodeTarget(c.path, c.anchor)
		if got != c.want {
			t.Errorf("%q with %q is written as %q, want %q", c.path, c.anchor, got, c.want)
		}
		if ls := linksOf("[x](" + got + ")"); len(ls) != 1 || ls[0].Path() != c.raw {
			t.Errorf("%q is read back as %+v", got, ls)
		}
	}
}

func TestLinkClone(t *testing.T) {
	tx := text.New("[a](b%20c.md#x)")
	l := Links(tx, text.Span{End: tx.Len()}, Outline{})[0]
	if c := l.Clone(); c != l || c.Path() != "b c.md" {
		t.Errorf("%+v", c)
	}
}
