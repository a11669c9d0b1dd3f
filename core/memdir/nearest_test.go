package memdir

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/memfile"
	"mem/core/text"
	"mem/internal/need"
)

func TestNearest(t *testing.T) {
	v := read(t, files(map[string]string{
		"api-style.md": topic("api-style", "feedback"), "user_role.md": topic("role of the user", "user"), "archive/deploy.md": topic("deploy", "project"),
		"testing.md": topic("testing", "feedback"), "testing_db.md": topic("testing with a database", "feedback"), "a.md": topic("a", "user"), "b.md": topic("b", "user"),
		"风格指南.md": topic("风格指南", "user"),
	}), nil)
	for ref, want := range map[string][]string{
		"API_Style.md":            {"api-style.md"},
		"api-stlye.md":            {"api-style.md"}, // two neighbours swapped are one slip
		"apistyle":                {"api-style.md"},
		"notes/api style":         {"api-style.md"}, // in another folder
		"role.md":                 {"user_role.md"},
		"feedback_testing.md":     {"testing.md"},
		"user_testng":             nil, // a type and a slip are too much
		"deploy.md":               {"archive/deploy.md"},
		"deployed.md":             {"archive/deploy.md"},
		"Testing With a Database": {"testing_db.md"},
		"testing-dbs.md":          {"testing_db.md"},
		"c.md":                    nil, // any two short names are near
		"风格指导":                    {"风格指南.md"},
		"":                        nil,
		"/":                       nil,
		"completely different":    nil,
	} {
		var got []string
		for _, near := range v.Nearest(ref, 3) {
			got = append(got, near.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Nearest(%q) (-want +got):\n%s", ref, diff)
		}
	}
	if got := v.Nearest("Api style", 0); len(got) > 0 {
		t.Errorf("none wanted, got %d", len(got))
	}
}

func TestLookup(t *testing.T) {
	v := read(t, files(map[string]string{
		"a/style.md": topic("Style", "user"), "b/style.md": topic("style", "user"), "user-role.md": topic("user_role", "user"), "project-role.md": "no name\n",
	}), nil)
	for ref, want := range map[string][]string{
		"Style": {"a/style.md"}, "STYLE": {"a/style.md", "b/style.md"}, "a/style": {"a/style.md"}, `b\style.md`: {"b/style.md"}, " style ": {"b/style.md"},
		"role": {"project-role.md", "user-role.md"}, "none": nil,
	} {
		var got []string
		for _, found := range v.Lookup(ref) {
			got = append(got, found.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Lookup(%q) (-want +got):\n%s", ref, diff)
		}
	}
}

func TestDistanceLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[abc风]{0,6}")
		a, b := []rune(word.Draw(t, "a")), []rune(word.Draw(t, "b"))
		d := distance(a, b, 9)
		if d != distance(b, a, 9) || (d == 0) != (string(a) == string(b)) || d > max(len(a), len(b)) || d < len(a)-len(b) {
			t.Fatalf("distance(%q, %q) = %d", string(a), string(b), d)
		}
		if limited := distance(a, b, 2); limited != min(d, 3) {
			t.Fatalf("limited to 2: %d, without: %d", limited, d)
		}
	})
}

func TestExists(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "# I\n", "a.md": "x", "sub/pic.png": "x", "README.md": "x", "with space.md": "x", "nested/MEMORY.md": "x", "nested/x.md": "x"})
	link(t, "nowhere", dir+"/gone.md")
	v := read(t, Disk(root), nil)
	for p, want := range map[string]bool{
		"MEMORY.md": true, "a.md": true, "sub": true, "sub/pic.png": true, "README.md": true, "with space.md": true, "nested/x.md": true, ".": true, "gone.md": true,
		"b.md": false, "a.md/b.md": false, "../" + dir: false, "/etc": false, "": false, "x\x00.md": false, strings.Repeat("x", 5000) + ".md": false,
	} {
		if got := v.Exists(p); got != want {
			t.Errorf("Exists(%.40q) = %v", p, got)
		}
	}
	over := read(t, Overlay(fstest.MapFS{}, map[string]Buffer{"new/a.txt": {Text: "x"}}), nil)
	if !over.Exists("new/a.txt") || !over.Exists("new") || over.Exists("MEMORY.md") {
		t.Error("open buffers")
	}
}

// TestExistsUnseen: what may not be looked at is not said to be missing.
func TestExistsUnseen(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "# I\n", "sub/pic.png": "x"})
	v := read(t, Disk(root), nil)
	if err := os.Chmod(dir+"/sub", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir+"/sub", 0o700) })
	if !v.Exists("sub/other.md") {
		t.Error("it is said to be missing")
	}
}

func TestTopicEntry(t *testing.T) {
	v := read(t, files(map[string]string{
		"a b.md": "---\nname: A [b]\ndescription: " + strings.Repeat("many words ", 20) + "\ntype: user\n---\n", "c.md": "x\n", "note: x.md": "x\n", "~x.md": "x\n",
		"hid.md": "---\nname: \"h\\u202Ei\\x1bd\"\ndescription: \"one\\x1b[31m\\ntwo\"\ntype: user\n---\n", "r\x1bx.md": "x\n", "l\nm.md": "x\n",
	}), nil)
	for p, want := range map[string]string{
		"a b.md": "- [A [b]](<a b.md>) — " + strings.Repeat("many words ", 11) + "many…",
		"c.md":   "- [c](c.md)", "note: x.md": "", "~x.md": "",
		"hid.md": "- [hid](hid.md) — one[31m two", "r\x1bx.md": "", "l\nm.md": "",
	} {
		got, err := TopicEntry(v.Topic(p), 150)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", p, got, err)
		}
		if n := len([]rune(got)); n > 150 {
			t.Errorf("%s: %d characters", p, n)
		}
	}
}

func TestRetarget(t *testing.T) {
	for _, c := range []struct{ from, src, to, want string }{
		{"MEMORY.md", "[a](x.md)", "a/b.md", "[a](a/b.md)"},
		{"MEMORY.md", "[a](x.md#part)", "b.md", "[a](b.md#part)"},
		{"MEMORY.md", "[a](<x y.md#p>)", "a b.md", "[a](<a b.md#p>)"},
		{"MEMORY.md", "[a](x%20y.md)", "a b.md", "[a](a%20b.md)"},
		{"MEMORY.md", "[a](x.md)", "a b.md", "[a](<a b.md>)"},
		{"a/b/c.md", "[a](x.md \"title\")", "a/风.md", "[a](../风.md \"title\")"},
		{"a/c.md", "[a](../x.md)", "a/y.md", "[a](y.md)"},
		{"MEMORY.md", "[a](x%20y.md#q%20r)", "100% (b) #1.md", "[a](100%25%20%28b%29%20%231.md#q%20r)"},
		{"MEMORY.md", "[a](x.md#q%20r)", "c#.md", "[a](c%23.md#q%20r)"},
		{"MEMORY.md", "[a](<x.md>)", "c#.md", "[a](<c%23.md>)"},
	} {
		tx := text.New(c.src)
		l := memfile.Links(tx, text.Span{End: tx.Len()}, memfile.Outline{})
		got, ok := text.Apply(c.src, []text.Edit{Retarget(tx, l[0], c.from, c.to)})
		if !ok || got != c.want {
			t.Errorf("%s in %s to %s: %s, want %s", c.src, c.from, c.to, got, c.want)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	all := map[string]string{}
	for i := range 10_000 {
		all[fmt.Sprintf("topic-about-%05d.md", i)] = "x"
	}
	v := read(b, files(all), nil)
	v.Nearest("topic-about-x", 3)
	b.ResetTimer()
	for range b.N {
		v.Nearest("another-name-of-it", 3)
	}
}

// TestRetargetLeadsThere retargets links written in every style to files with every
// kind of name.
func TestRetargetLeadsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Custom(func(t *rapid.T) string {
			return rapid.StringMatching(`[a风]`).Draw(t, "first") + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"b", " ", "%", "%20", "#", "(", ")", "<", ">", "é", ".", "&"}), 0, 6).Draw(t, "rest"), "") + "z"
		})
		to := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "to"), "/") + ".md"
		from := rapid.SampledFrom([]string{"MEMORY.md", "a/b.md", "a/b/c.md"}).Draw(t, "from")
		written := rapid.SampledFrom([]string{"[x](old.md)", "[x](old.md#part)", "[x](<old name.md>)", "[x](<old.md#a b>)", "[x](old%20name.md#p%20q)", `[x](old.md "title")`}).Draw(t, "written")
		tx := text.New(written)
		l := memfile.Links(tx, text.Span{End: tx.Len()}, memfile.Outline{})[0]
		after, ok := text.Apply(written, []text.Edit{Retarget(tx, l, from, to)})
		if !ok {
			t.Fatal("the edit does not fit")
		}
		tx = text.New(after)
		links := memfile.Links(tx, text.Span{End: tx.Len()}, memfile.Outline{})
		if len(links) != 1 || path.Join(path.Dir(from), links[0].Path()) != to {
			t.Fatalf("%s in %s becomes %s, which leads to %+v, not to %q", written, from, after, links, to)
		}
		_, anchor, _ := strings.Cut(text.New(written).Slice(l.Dest), "#")
		if _, now, _ := strings.Cut(tx.Slice(links[0].Dest), "#"); now != anchor {
			t.Fatalf("%s becomes %s", written, after)
		}
	})
}
