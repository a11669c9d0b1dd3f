package memdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/memfile"
)

// files makes a source in memory.
func files(contents map[string]string) fstest.MapFS {
	src := fstest.MapFS{}
	for p, c := range contents {
		src[p] = &fstest.MapFile{Data: []byte(c), ModTime: time.Unix(1_700_000_000, 1000)}
	}
	return src
}

func read(t testing.TB, src fs.FS, cache *Cache) *View {
	t.Helper()
	v, err := Read(context.Background(), src, cache, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func paths(v *View) []string {
	var out []string
	for _, t := range v.Topics {
		out = append(out, t.Path)
	}
	return out
}

func problems(v *View) map[string]string {
	out := map[string]string{}
	for _, p := range v.Problems {
		out[p.Path] += p.Message
	}
	return out
}

func topic(name, typ string) string {
	return "---\nname: " + name + "\ndescription: about " + name + "\ntype: " + typ + "\n---\n\nbody of " + name + "\n"
}

func TestViewTopics(t *testing.T) {
	src := files(map[string]string{
		"MEMORY.md": "# I\n\n- [A](a.md) — x\n", "a.md": topic("a", "user"), "sub/b.MD": topic("b", "project"), "sub/deep/c.md": "no frontmatter\n", "empty.md": "",
		"README.md": "x", "sub/readme.md": "x", "CLAUDE.md": "x", "AGENTS.md": "x", "notes.txt": "x", ".hidden.md": "x", "sub/.git/x.md": "x", "sub/.obsidian/x.md": "x",
		"agent/MEMORY.md": "x", "agent/own.md": "x", "agent/deep/own.md": "x", "sub/agent2/MEMORY.md": "x", "sub/agent2/own.md": "x", "logs/2026/01/2026-01-02.md": "x", "logs/other.md": "x",
	})
	v := read(t, src, nil)
	if d := cmp.Diff([]string{"a.md", "empty.md", "sub/b.MD", "sub/deep/c.md"}, paths(v)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"agent", "sub/agent2"}, v.Nested); d != "" {
		t.Error(d)
	}
	if len(v.Problems) > 0 || v.LinkedOnly {
		t.Errorf("%+v", v.Problems)
	}
	a := v.Topic("a.md")
	if a.Name() != "a" || a.Meta.Type != "user" || a.Form != memfile.FormFlat || a.FrontLines != 5 || a.Hash == "" || a.Size == 0 || a.ModTime.IsZero() {
		t.Errorf("%+v", a)
	}
	if c := v.Topic("sub/deep/c.md"); c.Name() != "c" || c.FrontLines != 0 {
		t.Errorf("%+v", c)
	}
	if v.Topic("README.md") != nil || v.Topic("") != nil {
		t.Error("no topic")
	}
	if e := v.Index.Entry("a.md"); e == nil || e.Summary != "x" {
		t.Errorf("%+v", e)
	}
	b, err := v.Load(a)
	if err != nil || b.Hash != a.Hash || b.File.BodyText() != "\nbody of a\n" || b.Path != "a.md" {
		t.Errorf("%+v %v", b, err)
	}
	if _, err := v.LoadPath("nosuch.md"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nosuch.md") {
		t.Error(err)
	}
}

func TestViewOfNothing(t *testing.T) {
	v := read(t, fstest.MapFS{}, nil)
	if v.Index.Exists || len(v.Topics) != 0 || v.Form() != memfile.FormFlat {
		t.Errorf("%+v", v)
	}
	seen, left := v.Scan(MaxScanTopics)
	if len(seen) != 0 || left != 0 {
		t.Error(seen, left)
	}
}

// At the root of a repository only what the index links is memory, and nothing
// else is looked at.
func TestViewOfARepository(t *testing.T) {
	src := files(map[string]string{
		".git/HEAD": "ref", "MEMORY.md": "- [A](a.md), [B](docs/b.md)\n- [Gone](gone.md)\n- [up](../up.md)\n- [R](README.md)\n- [M](MEMORY.md)\n- [N](nested/n.md)\n- [H](.hidden/h.md)\n- [D](dir.md)\n- [again](a.md#x)\n- [L](logs/x.md)\n",
		"a.md": topic("a", "user"), "docs/b.md": topic("b", "user"), "docs/other.md": "x", "README.md": "x", "nested/MEMORY.md": "", "nested/n.md": "x", ".hidden/h.md": "x", "dir.md/x": "x",
		"logs/x.md": "x", "logs/2026/01/2026-01-02.md": "x", "node_modules/x/readme.md": "x",
	})
	counted := &counting{FS: src}
	v := read(t, counted, nil)
	if d := cmp.Diff([]string{"a.md", "docs/b.md"}, paths(v)); d != "" || !v.LinkedOnly {
		t.Error(d)
	}
	if p := problems(v); len(p) != 1 || !strings.Contains(p["dir.md"], "is a folder") {
		t.Error(p)
	}
	if len(v.Logs) != 1 {
		t.Error(v.Logs)
	}
	if counted.opened("node_modules") > 0 {
		t.Error("the rest of the repository was read")
	}
	// Without an index the folder is a plain memory directory.
	delete(src, "MEMORY.md")
	if v := read(t, src, nil); v.LinkedOnly || v.Topic("docs/other.md") == nil {
		t.Error(paths(v))
	}
}

func TestViewForm(t *testing.T) {
	nested := "---\nname: n\nmetadata:\n  type: user\n---\n"
	for _, c := range []struct {
		flat, nested int
		want         memfile.Form
	}{{0, 0, memfile.FormFlat}, {1, 0, memfile.FormFlat}, {0, 1, memfile.FormNested}, {1, 1, memfile.FormFlat}, {2, 3, memfile.FormNested}} {
		src := map[string]string{"none.md": "x", "untyped.md": "---\nname: x\n---\n"}
		for i := range c.flat {
			src[fmt.Sprintf("f%d.md", i)] = topic("f", "user")
		}
		for i := range c.nested {
			src[fmt.Sprintf("n%d.md", i)] = nested
		}
		if got := read(t, files(src), nil).Form(); got != c.want {
			t.Errorf("%d flat, %d nested: %s", c.flat, c.nested, got)
		}
	}
}

func TestResolve(t *testing.T) {
	v := read(t, files(map[string]string{
		"user_role.md": topic("user-role", "user"), "sub/API_Style.md": topic("api-naming", "feedback"), "twin1.md": topic("twin", "user"), "twin2.md": topic("twin", "user"),
		"deploy.md": topic("release", "project"), "release.md": topic("ship", "project"), "部署.md": topic("部署说明", "project"), "feedback_tests.md": topic("x", "project"),
	}), nil)
	for ref, want := range map[string]string{
		"user_role.md": "user_role.md", "user_role": "user_role.md", "./user_role.md": "user_role.md", " user-role ": "user_role.md", "User Role": "user_role.md", "USER_ROLE.md": "user_role.md",
		"role": "user_role.md", "sub/API_Style.md": "sub/API_Style.md", "sub\\API_Style": "sub/API_Style.md", "sub/api-style": "sub/API_Style.md", "api_style": "sub/API_Style.md", "api-naming": "sub/API_Style.md",
		"release": "release.md", // a path goes before a name
		"ship":    "release.md", "部署说明": "部署.md", "部署": "部署.md", "tests": "feedback_tests.md", "twin1": "twin1.md",
	} {
		got, err := v.Resolve(ref)
		if err != nil || got.Path != want {
			t.Errorf("Resolve(%q): %v %v, want %s", ref, got, err, want)
		}
	}
	var amb *AmbiguousError
	if _, err := v.Resolve("twin"); !errors.As(err, &amb) || len(amb.Paths) != 2 || !strings.Contains(err.Error(), "twin1.md, twin2.md. Give the path") {
		t.Error(err)
	}
	var nf *NotFoundError
	if _, err := v.Resolve("api"); !errors.As(err, &nf) || !strings.Contains(err.Error(), "near it: sub/API_Style.md") {
		t.Error(err)
	}
	for _, ref := range []string{"", "..", "../user_role.md", "zz", "a\x00"} {
		if got, err := v.Resolve(ref); err == nil {
			t.Errorf("Resolve(%q) gives %s", ref, got.Path)
		}
	}
}

func TestScan(t *testing.T) {
	src := fstest.MapFS{}
	for i := range 205 {
		p := fmt.Sprintf("t%03d.md", i)
		src[p] = &fstest.MapFile{Data: []byte(topic(p, "user")), ModTime: time.Unix(int64(1000+i), 0)}
	}
	long := "---\nname: long\n" + strings.Repeat("# c\n", 27) + "description: on line 30\ntype: user\nmodified: late\n---\n"
	src["t204.md"].Data = []byte(long)
	v := read(t, src, nil)
	seen, left := v.Scan(MaxScanTopics)
	if len(seen) != 200 || left != 5 || seen[0].Path != "t204.md" || seen[199].Path != "t005.md" {
		t.Fatal(len(seen), left, seen[0].Path)
	}
	// A reader of the first 30 lines does not see what stands below.
	if m := seen[0].Meta; m.Name != "long" || m.Description != "on line 30" || m.Type != "" {
		t.Errorf("%+v", m)
	}
	if m := seen[0].Topic.Meta; m.Type != "user" || m.Modified != "late" {
		t.Errorf("%+v", m)
	}
	if m := seen[1].Meta; m.Type != "user" {
		t.Errorf("%+v", m)
	}
}

// The head of a file is read as far as its frontmatter goes, whatever comes first.
func TestLongFrontmatter(t *testing.T) {
	body := strings.Repeat("body\n", 5000)
	for name, head := range map[string]string{
		"a long line first":       "---\ndescription: " + strings.Repeat("x", 9000) + "\nname: n\ntype: user\n---\n",
		"an unknown key first":    "---\ntitle: " + strings.Repeat("x", 9000) + "\nname: n\ntype: user\n---\n",
		"many comments first":     "---\n" + strings.Repeat("# c\n", 3000) + "name: n\ntype: user\n---\n",
		"many lines":              "---\nname: n\n" + strings.Repeat("k: v\n", 3000) + "type: user\n---\n",
		"many blank lines before": strings.Repeat("\n", 3000) + "---\nname: n\ntype: user\n---\n",
	} {
		v := read(t, files(map[string]string{"a.md": head + body}), nil)
		if m := v.Topic("a.md").Meta; m.Name != "n" || m.Type != "user" {
			t.Errorf("%s: %+v", name, m)
		}
		if v.Topic("a.md").Hash != "" {
			t.Errorf("%s: a hash of a part", name)
		}
	}
	v := read(t, files(map[string]string{"a.md": "---\n" + body, "b.md": "---\nname: n\n" + strings.Repeat("中", 5000)}), nil)
	if v.Topic("a.md").Meta.Name != "" || v.Topic("b.md").Meta.Name != "n" {
		t.Error(v.Topic("a.md").Meta, v.Topic("b.md").Meta)
	}
	for _, p := range v.Topic("b.md").Problems {
		if p.Code == memfile.NotUTF8 {
			t.Error("half a character at the end of what was read is no fault")
		}
	}
}

func TestViewCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := &counting{FS: files(map[string]string{"a.md": "x", "sub/b.md": "x", "sub/c.md": "x"})}
	src.onOpen = func(p string) {
		if p == "a.md" {
			cancel()
		}
	}
	if v, err := Read(ctx, src, nil, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v %v: a part of a View is none", v, err)
	}
}
