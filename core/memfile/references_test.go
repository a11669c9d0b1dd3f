package memfile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/text"
	"mem/internal/cputime"
)

func referencesOf(src string) (*File, []Reference) {
	f := Parse(src)
	o := f.Outline()
	return f, References(f.Text, f.Body, Links(f.Text, f.Body, o), func() Outline { return o })
}

func TestReferences(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string // kind, destination as written, target, path
	}{
		{"nothing", "text [a] (b) ]( [x]: y z <b> a < b", nil},
		{"links are none", "[A](a.md \"t\"), [B](b c.md) [C](<c.md>) [![x](b.png) y](d.md)", []string{"2 b.png b.png b.png"}},
		{"definition", "[x][r]\n\n[r]: ../../ref.md\n", []string{"0 ../../ref.md ../../ref.md ../../ref.md"}},
		{"definitions with titles and brackets", "[r]: a.md \"t\"\n[s]: <b c.md> 't'\n - [q]:\n   d&amp;e.md\n> [p]:\n> f.md\n", []string{"0 a.md a.md a.md", "0 b c.md b c.md b c.md", "0 d&amp;e.md d&e.md d&e.md", "0 f.md f.md f.md"}},
		{"no definitions", "[TODO]: write it\n\nsee [r]: a.md\n\n\\[r\\]: a.md\n\n`[r]: a.md`\n\n    [r]: a.md\n", nil},
		{"a footnote may be one", "[^1]: a.md\n", []string{"1 a.md a.md a.md"}},
		{"absolute", "[u]: /etc/passwd", []string{"0 /etc/passwd /etc/passwd "}},
		{"CRLF", "[r]:\r\na.md\r\n[s]: b.md\r\n", []string{"0 a.md a.md a.md", "0 b.md b.md b.md"}},
		{"image", "![i](../../x.png) ![j](<a b.png>)", []string{"2 ../../x.png ../../x.png ../../x.png", "2 a b.png a b.png a b.png"}},
		{"next line", "[g](\n../../nl.md) [h](a.md\n\"title\") [k](\r\n  <b.md>\r\n)\n> [q](\n> c.md)", []string{"3 ../../nl.md ../../nl.md ../../nl.md", "3 a.md a.md a.md", "3 b.md b.md b.md", "3 c.md c.md c.md"}},
		{"a paragraph ends", "[g](\n\na.md)\n\n[g\n\n](\na.md)", nil},
		{"a bar ends no paragraph", "[a\n| b](../x.md)", []string{"3 ../x.md ../x.md ../x.md"}},
		{"one in the other", "[x](\n../a](b.md)", []string{"3 ../a ../a ../a", "3 b.md b.md b.md"}},
		{"autolink", "<file:///etc/passwd> <https://x.y/?a&amp;b> <C:x> \\<file:x> `<file:y>` <a b:c>", []string{"4 file:///etc/passwd file:///etc/passwd ", "4 https://x.y/?a&amp;b https://x.y/?a&amp;b "}},
		{"HTML", `<a href="../../x.md">x</a> <IMG alt=y SRC = 'a.png'/> <img src=b.png> <a class="x"href="c&amp;d.md?raw=1">`, []string{"5 ../../x.md ../../x.md ../../x.md", "5 a.png a.png a.png", "5 b.png b.png b.png", "5 c&amp;d.md?raw=1 c&d.md?raw=1 c&d.md"}},
		{"HTML over lines, without semicolons, with backslashes", "<a\nhref\n=\n\"&#46&#46/x\n.md\"> <a href=..\\y.md>", []string{"5 &#46&#46/x\n.md ../x.md ../x.md", "5 ..\\y.md ../y.md ../y.md"}},
		{"a closing sign in quotes", `<a title=">" href="../x.md">`, []string{"5 ../x.md ../x.md ../x.md"}},
		{"tags in quotes", `<a x="<a href="../x.md"> <a title="it's > <b" src=y.png> <i z='">' href=z.md>`, []string{"5 ../x.md ../x.md ../x.md", "5 y.png y.png y.png", "5 z.md z.md z.md"}},
		{"backticks in quotes", "<a title=\"`\" href=\"../x.md\" alt=\"`\">", []string{"5 ../x.md ../x.md ../x.md"}},
		{"words behind tags", `<a href="a.md"> src=/b and Map<K, "v"> href=c`, []string{"5 a.md a.md a.md"}},
		{"words about HTML", "`<a href=\"/x\">` <b>x</b> src=/usr/bin a<b href=c.md <x data-src=d.md>\n\nhref=\"e.md\"\n\n```\n<img src=f.png>\n```\n<!-- <img src=g.png> -->", []string{"5 c.md c.md c.md"}},
		{"frontmatter is none", "---\nname: x\na: \"[r]: x.md\"\n---\n<a href=b.md>", []string{"5 b.md b.md b.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, refs := referencesOf(c.src)
			var got []string
			for _, r := range refs {
				got = append(got, fmt.Sprintf("%d %s %s %s", r.Kind, f.Text.Slice(r.Dest), r.Target, r.Path()))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A text in which nothing leads anywhere needs no outline.
func TestReferencesNeedNoOutline(t *testing.T) {
	src := "[A](a.md) Map<String, T> a < b <br> `x` [x]: y z\n"
	tx := text.New(src)
	links := Links(tx, text.Span{End: tx.Len()}, Outline{})
	References(tx, text.Span{End: tx.Len()}, links, func() Outline {
		t.Error("the outline was asked for")
		return Outline{}
	})
}

// Hostile texts of a megabyte take no longer than other texts do.
func TestReferencesAreLinear(t *testing.T) {
	for _, unit := range []string{"](", "[](", "[](\n", "[x](<", "[]:", "[]: x", "\n[", "- ", "[a](b", "<a:", "<a", "<a href=", "<a href='", "<a href=\"x", "/href=", "<a \"href='", "href=\"href='", "![](a ", "](x\\", "&#46;", "[](&", "<a href=&", "> [", "(", "[x](\n(", "[^", "===", " ="} {
		src := "<a " + strings.Repeat(unit, 1<<20/len(unit))
		tx := text.New(src)
		d := cputime.Of(t, func() { References(tx, text.Span{End: tx.Len()}, nil, func() Outline { return Outline{} }) })
		if d > 3*time.Second {
			t.Errorf("%q takes %v", unit, d)
		}
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"[r]: a.md", "![](x)", "[g](\n../x.md)", "<file:x>", "<a href='x'>", "[x](\n../a](b)", "> [q]:\n> <a b> 't'", "&#46;[x](&amp;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		file, refs := referencesOf(src)
		links := Links(file.Text, file.Body, file.Outline())
		for _, r := range refs {
			if r.Span.Start < file.Body.Start || r.Span.Start > r.Dest.Start || r.Dest.Start >= r.Dest.End || r.Dest.End > r.Span.End || r.Span.End > len(src) {
				t.Fatalf("%q: spans of %+v", src, r)
			}
			for _, l := range links {
				if l.Dest == r.Dest && !l.Wiki {
					t.Fatalf("%q: %+v is a link", src, r)
				}
			}
		}
	})
}
