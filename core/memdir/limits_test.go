package memdir

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/memfile"
	"mem/core/text"
)

// numbered gives n lines, each with its number and filled to width bytes with its
// newline.
func numbered(n, width int) string {
	var b strings.Builder
	for i := range n {
		l := fmt.Sprintf("line %d ", i+1)
		b.WriteString(l + strings.Repeat("x", max(width-1-len(l), 0)) + "\n")
	}
	return b.String()
}

func TestLoadWhole(t *testing.T) {
	for _, c := range []struct {
		name, src, want string
		lines           int
	}{
		{"empty", "", "", 0},
		{"blank", "\n \n\r\n", "", 0},
		{"trimmed", "\n\n  - a\n\n- b  \n\n", "- a\n\n- b", 3},
		{"CRLF", "- a\r\n- b\r\n", "- a\n- b", 2},
		{"BOM", "\ufeff- a\n", "- a", 1},
		{"BOM, then a comment", "\ufeff<!-- c -->\n- a\n", "- a", 1},
		{"frontmatter", "---\nname: x\n---\n\n- a\n", "- a", 1},
		{"only frontmatter", "---\nname: x\n---\n", "", 0},
		{"only frontmatter, no newline", "---\nname: x\n---", "", 0},
		{"frontmatter never closed stays", "---\nname: x\n\n- a\n", "---\nname: x\n\n- a", 4},
		{"a rule stays", "---\nsome prose here stays\n", "---\nsome prose here stays", 2},
		{"comment between entries", "- a\n<!-- c\n\nc -->\n- b\n", "- a\n- b", 2},
		{"indented comment", "- a\n\n  <!-- c -->\n", "- a\n\n  <!-- c -->", 3}, // inside the item, not a block of its own
		{"comment after a paragraph", "text\n   <!-- c -->\n\n- b\n", "text\n\n- b", 3},
		{"text behind a comment", "<!-- c --> - a\n- b\n", "- a\n- b", 2},
		{"two comments on a line", "<!-- c --><!-- d -->\n- b\n", "- b", 1},
		{"comment in a line stays", "- a <!-- c -->\n", "- a <!-- c -->", 1},
		{"comment in code stays", "```\n<!-- c -->\n```\n", "```\n<!-- c -->\n```", 3},
		{"comment never closed stays", "- a\n\n<!-- c\n- b\n", "- a\n\n<!-- c\n- b", 4},
		{"invalid bytes", "- a\xff\xfeb\n", "- a\ufffd\ufffdb", 1},
		{"half a character", "- a\xe4\xb8b\n", "- a\ufffdb", 1},
		{"half an emoji, then its rest", "\xf0\x9f\x98-\x80\n", "\ufffd-\ufffd", 1},
		{"overlong", "\xe0\x80\x80\n", "\ufffd\ufffd\ufffd", 1},
		{"trim as JavaScript does", "\u00a0\u3000\n- a\ufeff\n", "- a", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rule := range []Rule{SeedRule(), ClientRule()} {
				l := Load(memfile.ParseIndex(c.src), rule)
				if l.Text != c.want || l.Lines != c.lines || l.TotalLines != c.lines {
					t.Errorf("%s: %q, %d of %d lines, want %q, %d", rule.Name, l.Text, l.Lines, l.TotalLines, c.want, c.lines)
				}
				if l.Cut || l.Warning != "" || l.FirstDropped != 0 || l.Dropped != 0 || l.CutBy != "" {
					t.Errorf("%s: cut: %+v", rule.Name, l)
				}
				if l.Size != l.TotalSize {
					t.Errorf("%s: %d of %d", rule.Name, l.Size, l.TotalSize)
				}
			}
		})
	}
}

func TestLoadCut(t *testing.T) {
	type cut struct {
		Lines, Size  int
		By           string
		FirstDropped int
		Dropped      int
	}
	whole := func(lines, size int) cut { return cut{Lines: lines, Size: size} }
	emoji := strings.Repeat("👍", 12_501) // 2 units, 4 bytes each
	for _, c := range []struct {
		name, src    string
		seed, client cut
	}{
		{"200 lines fit", numbered(200, 20), whole(200, 3999), whole(200, 3999)},
		{"201 lines do not", numbered(201, 20), cut{200, 3999, "lines", 201, 1}, cut{200, 3999, "lines", 201, 1}},
		{"blank lines count", strings.Repeat("a\n\n", 150), cut{200, 299, "lines", 201, 99}, cut{200, 299, "lines", 201, 99}},
		{"a newline at the limit, and one more", numbered(100, 250) + "x", cut{100, 24_999, "size", 101, 1}, cut{100, 24_999, "size", 101, 1}},
		{"exactly 25,000", numbered(99, 250) + strings.Repeat("x", 250), whole(100, 25_000), whole(100, 25_000)},
		{"a newline at the limit itself", strings.Repeat("x", 25_000) + "\ny", cut{1, 25_000, "size", 2, 1}, cut{1, 25_000, "size", 2, 1}},
		{"a newline one past it", "a\n" + strings.Repeat("x", 24_999) + "\ny", cut{1, 1, "size", 2, 2}, cut{1, 1, "size", 2, 2}},
		{"first line too long", strings.Repeat("x", 25_001), cut{1, 25_000, "size", 1, 1}, cut{1, 25_000, "size", 1, 1}},
		{"first line too long, more below", strings.Repeat("x", 30_000) + "\ny\nz", cut{1, 25_000, "size", 1, 3}, cut{1, 25_000, "size", 1, 3}},
		{"lines first, then size", numbered(300, 200), cut{125, 24_999, "size", 126, 175}, cut{125, 24_999, "size", 126, 175}},
		{"trailing newlines do not count", strings.Repeat("x", 25_000) + "\n\n\n", whole(1, 25_000), whole(1, 25_000)},
		{"CJK: three bytes, one unit", strings.Repeat("中", 25_000), cut{1, 24_999, "size", 1, 1}, whole(1, 25_000)},
		{"CJK in lines", strings.Repeat(strings.Repeat("中", 99)+"\n", 150), cut{83, 83*298 - 1, "size", 84, 67}, whole(150, 14_999)},
		{"a pair is not split", "x" + emoji, cut{1, 24_997, "size", 1, 1}, cut{1, 24_999, "size", 1, 1}},
		{"CRLF counts once", strings.ReplaceAll(numbered(100, 250), "\n", "\r\n"), whole(100, 24_999), whole(100, 24_999)},
		{"lines of the file, not of what is left", "\ufeff---\nname: x\n---\n\n<!-- a\nb -->\n" + numbered(201, 20), cut{200, 3999, "lines", 207, 1}, cut{200, 3999, "lines", 207, 1}},
		{"a comment between", numbered(100, 20) + "<!-- a\nb -->\n" + numbered(101, 20), cut{200, 3999, "lines", 203, 1}, cut{200, 3999, "lines", 203, 1}},
		{"comments do not count", "<!-- " + strings.Repeat("c", 30_000) + " -->\n- a\n", whole(1, 3), whole(1, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := memfile.ParseIndex(c.src)
			for _, r := range []struct {
				rule Rule
				want cut
			}{{SeedRule(), c.seed}, {ClientRule(), c.client}} {
				l := Load(x, r.rule)
				if d := cmp.Diff(r.want, cut{l.Lines, l.Size, l.CutBy, l.FirstDropped, l.Dropped}); d != "" {
					t.Error(r.rule.Name, d)
				}
				if l.Cut != (r.want.By != "") || l.Cut != (l.Warning != "") {
					t.Errorf("%s: cut %v, warning %q", r.rule.Name, l.Cut, l.Warning)
				}
				if strings.ContainsRune(l.Text, '\ufffd') {
					t.Errorf("%s: a character was cut in two", r.rule.Name)
				}
			}
		})
	}
}

func TestWarning(t *testing.T) {
	w := Load(memfile.ParseIndex(numbered(205, 20)), SeedRule()).Warning
	for _, say := range []string{"205 lines", "4099 bytes", "at most 200 lines and 25000 bytes", "Line 201 of MEMORY.md", "(5 lines)", "NOT loaded", "topic files", "150 characters"} {
		if !strings.Contains(w, say) {
			t.Errorf("the warning does not say %q: %s", say, w)
		}
	}
	if w := Load(memfile.ParseIndex(strings.Repeat("中", 26_000)), ClientRule()).Warning; !strings.Contains(w, "26000 UTF-16 units") {
		t.Error(w)
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		lines, percent int
		warning        string
	}{{0, 0, ""}, {100, 50, ""}, {139, 69, ""}, {140, 70, "70 % full"}, {200, 100, "100 % full"}, {250, 125, "NOT loaded"}} {
		f := FillOf(memfile.ParseIndex(numbered(c.lines, 20)), SeedRule())
		if f.Percent != c.percent || f.Lines != c.lines || (c.warning == "") != (f.Warning == "") || !strings.Contains(f.Warning, c.warning) {
			t.Errorf("%d lines: %+v", c.lines, f)
		}
	}
	// The nearer limit counts.
	if f := FillOf(memfile.ParseIndex(strings.Repeat("x", 20_000)), SeedRule()); f.Percent != 80 || f.Unit != Bytes {
		t.Errorf("%+v", f)
	}
}

// What is loaded and what is dropped are the whole, and nothing loaded is over
// the limit.
func TestLoadLaws(t *testing.T) {
	piece := rapid.SampledFrom([]string{"- a\n", "\n", "- 中文中文\n", "👍👍", "x\r\n", "<!-- c -->\n", "<!-- c\n\nd --> e\n", "\xff", "# h\n", "```\n", "  - b\n"})
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		rule := Rule{Name: "test", Lines: rapid.IntRange(1, 12).Draw(t, "lines"), Size: rapid.IntRange(4, 40).Draw(t, "size"),
			Unit: rapid.SampledFrom([]Unit{Bytes, UTF16}).Draw(t, "unit")}
		x := memfile.ParseIndex(src)
		l := Load(x, rule)
		all := Load(x, Rule{Lines: 1 << 30, Size: 1 << 30, Unit: rule.Unit})
		if !strings.HasPrefix(all.Text, l.Text) || all.Cut {
			t.Fatalf("%q is no start of %q", l.Text, all.Text)
		}
		if l.Lines > rule.Lines || l.Size > rule.Size {
			t.Fatalf("over the limit: %+v", l)
		}
		if l.Cut != (l.Text != all.Text) {
			t.Fatalf("cut is %v: %q of %q", l.Cut, l.Text, all.Text)
		}
		if l.TotalLines != all.Lines || l.TotalSize != all.Size {
			t.Fatalf("%+v, want the totals of %+v", l, all)
		}
		if !l.Cut {
			return
		}
		if l.FirstDropped < 1 || l.FirstDropped > x.Text().Lines() || l.Dropped < 1 || l.Dropped > l.TotalLines {
			t.Fatalf("%+v of %d lines", l, x.Text().Lines())
		}
		if strings.HasPrefix(all.Text, l.Text+"\n") && l.Lines+l.Dropped != l.TotalLines {
			t.Fatalf("%d loaded and %d dropped of %d", l.Lines, l.Dropped, l.TotalLines)
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"", "- a\n", "\ufeff---\na: b\n---\n<!-- c\n\n-->\n- 中👍\xff\r\n", numbered(201, 5), "<!--", "--><!-- -->x"} {
		f.Add(s, 10, 40)
	}
	f.Fuzz(func(t *testing.T, s string, lines, size int) {
		if lines < 1 || size < 4 {
			return
		}
		x := memfile.ParseIndex(s)
		for _, u := range []Unit{Bytes, UTF16} {
			l := Load(x, Rule{Lines: lines, Size: size, Unit: u})
			if l.Lines > lines || l.Size > size || l.Size != sizeOf(l.Text, u) {
				t.Fatalf("over the limit: %+v", l)
			}
			if l.Cut && (l.FirstDropped < 1 || l.FirstDropped > max(text.New(s).Lines(), 1)) {
				t.Fatalf("line %d was dropped first", l.FirstDropped)
			}
		}
	})
}
