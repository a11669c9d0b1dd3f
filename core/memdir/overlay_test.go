package memdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// buffers opens texts in an editor, all of one version and time.
func buffers(texts map[string]string) map[string]Buffer {
	out := map[string]Buffer{}
	for p, s := range texts {
		out[p] = Buffer{Text: s, Version: 1, ModTime: time.Unix(1_700_000_000, 1000)}
	}
	return out
}

func TestOverlayIsAFileSystem(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "x", "a.md": "disk", "sub/b.md": "x", "sub/deep/c.md": "x", "other/d.md": "x"})
	link(t, "a.md", filepath.Join(dir, "link.md"))
	over := buffers(map[string]string{"a.md": "buffer", "link.md": "y", "new.md": "", "sub/n.md": "y", "sub/deep/er/x.md": "y", "nowhere/deep/x.md": "y"})
	var names []string
	for p := range over {
		names = append(names, p)
	}
	for name, base := range map[string]fs.FS{"disk": Disk(root), "in memory": files(map[string]string{"a.md": "disk", "sub/b.md": "x", "other/d.md": "x"})} {
		if err := fstest.TestFS(Overlay(base, over), append(names, "other/d.md", "sub/b.md")...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A memory directory that does not exist yet.
	if err := fstest.TestFS(Overlay(os.DirFS(filepath.Join(dir, "none")), over), names...); err != nil {
		t.Error(err)
	}
}

func TestOverlayViews(t *testing.T) {
	for _, c := range []struct {
		name          string
		disk, buffers map[string]string
		links         map[string]string // name to target
		topics        []string
		nested        []string
		problem       string // path of one, and none else
		check         func(t *testing.T, v *View)
	}{
		{name: "no buffer", disk: map[string]string{"a.md": topic("a", "user")}, topics: []string{"a.md"}},
		{name: "index in a buffer only", disk: map[string]string{"a.md": topic("a", "user")},
			buffers: map[string]string{"MEMORY.md": "- [A](a.md) — from the buffer\n"}, topics: []string{"a.md"},
			check: func(t *testing.T, v *View) {
				if e := v.Index.Entry("a.md"); !v.Index.Exists || e == nil || e.Summary != "from the buffer" {
					t.Errorf("%+v", e)
				}
			}},
		{name: "topic in a buffer only", disk: map[string]string{"MEMORY.md": ""},
			buffers: map[string]string{"new.md": topic("new", "project")}, topics: []string{"new.md"},
			check: func(t *testing.T, v *View) {
				n := v.Topic("new.md")
				if b, err := v.Load(n); err != nil || b.Hash != n.Hash || n.Meta.Type != "project" || b.File.BodyText() != "\nbody of new\n" {
					t.Errorf("%+v %v", n, err)
				}
			}},
		{name: "buffer in place of a file", disk: map[string]string{"a.md": topic("a", "user"), "b.md": topic("b", "user")},
			buffers: map[string]string{"a.md": topic("changed", "user")}, topics: []string{"a.md", "b.md"},
			check: func(t *testing.T, v *View) {
				b, err := v.LoadPath("a.md")
				if err != nil || b.File.Value("name") != "changed" || v.Topic("a.md").Meta.Name != "changed" {
					t.Error(b, err)
				}
			}},
		{name: "emptied", disk: map[string]string{"a.md": topic("a", "user")}, buffers: map[string]string{"a.md": ""}, topics: []string{"a.md"},
			check: func(t *testing.T, v *View) {
				if a := v.Topic("a.md"); a.Size != 0 || a.Meta.Name != "" {
					t.Errorf("%+v", a)
				}
			}},
		{name: "folders that do not exist", disk: map[string]string{"sub/a.md": "x"},
			buffers: map[string]string{"sub/b.md": "x", "sub/deep/c.md": "x", "far/away/d.md": "x"}, topics: []string{"far/away/d.md", "sub/a.md", "sub/b.md", "sub/deep/c.md"}},
		{name: "a memory directory of its own in a buffer", disk: map[string]string{"agent/a.md": "x", "b.md": "x"},
			buffers: map[string]string{"agent/MEMORY.md": "x"}, topics: []string{"b.md"}, nested: []string{"agent"}},
		{name: "hidden names and files of others", disk: map[string]string{"a.md": "x"},
			buffers: map[string]string{".hidden.md": "x", ".obsidian/x.md": "x", "README.md": "x", "sub/claude.md": "x", "notes.txt": "x"}, topics: []string{"a.md"}},
		{name: "daily log in a buffer", buffers: map[string]string{"logs/2026/01/2026-01-02.md": "x"},
			check: func(t *testing.T, v *View) {
				if len(v.Logs) != 1 || v.Logs[0].Date != "2026-01-02" {
					t.Error(v.Logs)
				}
			}},
		{name: "repository: only linked files", disk: map[string]string{".git/HEAD": "x", "docs/a.md": "x", "b.md": "x"},
			buffers: map[string]string{"MEMORY.md": "- [A](docs/a.md)\n- [N](docs/n.md)\n", "docs/n.md": "x", "docs/m.md": "x"}, topics: []string{"docs/a.md", "docs/n.md"}},
		{name: "link with a buffer of its name", disk: map[string]string{"a.md": "x"}, links: map[string]string{"link.md": "a.md", "MEMORY.md": "a.md"},
			buffers: map[string]string{"link.md": topic("link", "user"), "MEMORY.md": "# I\n"}, topics: []string{"a.md", "link.md"},
			check: func(t *testing.T, v *View) {
				if b, err := v.LoadPath("link.md"); err != nil || b.File.Value("name") != "link" {
					t.Error(b, err)
				}
			}},
		{name: "buffer behind a linked folder", disk: map[string]string{"sub/a.md": "x"}, links: map[string]string{"dir": "sub"},
			buffers: map[string]string{"dir/a.md": "y", "dir/new.md": "y"}, topics: []string{"sub/a.md"}, problem: "dir",
			check: func(t *testing.T, v *View) {
				for _, p := range []string{"dir/a.md", "dir/new.md"} {
					if b, err := v.LoadPath(p); err == nil {
						t.Error("read through a link:", b)
					}
				}
			}},
		{name: "buffer below a file", disk: map[string]string{"a.md": "x"}, buffers: map[string]string{"a.md/b.md": "y"}, topics: []string{"a.md"}},
		{name: "buffer named as a folder", disk: map[string]string{"sub.md/a.md": "x"}, buffers: map[string]string{"sub.md": "y"}, problem: "sub.md"},
		{name: "two buffers, one below the other", buffers: map[string]string{"a.md": "x", "a.md/b.md": "y"}, problem: "a.md"},
		{name: "paths that are none", disk: map[string]string{"a.md": "x"}, topics: []string{"a.md"},
			buffers: map[string]string{"": "x", ".": "x", "../up.md": "x", "/abs.md": "x", "sub//b.md": "x", "./c.md": "x", "d/": "x"}},
		{name: "too large a buffer", buffers: map[string]string{"big.md": strings.Repeat("x", DefaultTopicBytes+1)}, problem: "big.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, root := onDisk(t, c.disk)
			for p, target := range c.links {
				link(t, target, filepath.Join(dir, p))
			}
			v := read(t, Overlay(Disk(root), buffers(c.buffers)), nil)
			if d := cmp.Diff(c.topics, paths(v)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.nested, v.Nested); d != "" {
				t.Error(d)
			}
			got := problems(v)
			if _, ok := got[c.problem]; len(got) > 1 || ok != (c.problem != "") || !ok && len(got) > 0 {
				t.Errorf("problems %v, want one of %q", got, c.problem)
			}
			if c.check != nil {
				c.check(t, v)
			}
		})
	}
}

// Closing a buffer shows the disk again; a file deleted there is gone.
func TestOverlayClosed(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"a.md": topic("disk", "user"), "b.md": topic("b", "user")})
	cache := NewCache()
	open := buffers(map[string]string{"a.md": topic("open", "user"), "b.md": topic("b", "user")})
	if err := os.Remove(filepath.Join(dir, "b.md")); err != nil {
		t.Fatal(err)
	}
	v := read(t, Overlay(Disk(root), open), cache)
	if d := cmp.Diff([]string{"a.md", "b.md"}, paths(v)); d != "" {
		t.Error(d)
	}
	delete(open, "a.md")
	delete(open, "b.md")
	if b, err := v.LoadPath("a.md"); err != nil || b.File.Value("name") != "open" {
		t.Error("a View keeps the buffers that it was made with", b, err)
	}
	w := read(t, Overlay(Disk(root), open), cache)
	if d := cmp.Diff([]string{"a.md"}, paths(w)); d != "" || w.Topic("a.md").Meta.Name != "disk" {
		t.Error(d, w.Topic("a.md"))
	}
	if _, err := w.LoadPath("b.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Texts of one size, one time and even one version: the cache never gives one for
// another, nor what the disk has, whatever the order they are asked for.
func TestOverlaySharesACache(t *testing.T) {
	at := time.Unix(1_700_000_000, 1000)
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [d](a.md) — disk\n", "a.md": topic("disk", "user"), "b.md": topic("b", "user")})
	for _, p := range []string{"MEMORY.md", "a.md"} {
		if err := os.Chtimes(filepath.Join(dir, p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	cache := NewCache()
	check := func(src fs.FS, want string) {
		t.Helper()
		v := read(t, src, cache)
		b, err := v.LoadPath("a.md")
		if err != nil {
			t.Fatal(err)
		}
		if v.Topic("a.md").Meta.Name != want || b.File.Value("name") != want || v.Index.Entry("a.md").Summary != want {
			t.Errorf("want %s: head %s, body %s, index %s", want, v.Topic("a.md").Meta.Name, b.File.Value("name"), v.Index.Entry("a.md").Summary)
		}
	}
	for round, name := range []string{"buf1", "buf2", "disk", "buf1", "buf1"} {
		over := Overlay(Disk(root), map[string]Buffer{
			"MEMORY.md": {Text: "- [d](a.md) — " + name + "\n", Version: int32(round / 2), ModTime: at},
			"a.md":      {Text: topic(name, "user"), Version: int32(round / 2), ModTime: at},
		})
		check(over, name)
		check(over, name)
		check(Disk(root), "disk")
	}
}

// What is open and did not change is parsed once, however fresh its time.
func TestOverlayIsCached(t *testing.T) {
	base := files(map[string]string{"b.md": topic("b", "user")})
	open := map[string]Buffer{"MEMORY.md": {Text: "- [A](a.md)\n", ModTime: time.Now()}, "a.md": {Text: topic("a", "user"), ModTime: time.Now()}}
	cache := NewCache()
	v := read(t, Overlay(base, open), cache)
	body, err := v.LoadPath("a.md")
	if err != nil {
		t.Fatal(err)
	}
	w := read(t, Overlay(base, open), cache)
	if v.Topic("a.md") != w.Topic("a.md") || v.Index != w.Index {
		t.Error("parsed again")
	}
	if again, err := w.LoadPath("a.md"); err != nil || again != body {
		t.Error("loaded again", err)
	}
}

func TestOverlayTellsVersions(t *testing.T) {
	src := Overlay(files(map[string]string{"b.md": "x"}), map[string]Buffer{"a.md": {Text: "x", Version: 7}})
	info, err := fs.Lstat(src, "a.md")
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := info.Sys().(Buffer); !ok || b.Version != 7 {
		t.Errorf("%+v", info.Sys())
	}
	if info, err = fs.Lstat(src, "b.md"); err != nil {
		t.Fatal(err)
	}
	if _, ok := info.Sys().(Buffer); ok {
		t.Error("b.md is not open")
	}
}

// An unreadable folder is reported, buffers in it or not.
func TestOverlayOfUnreadable(t *testing.T) {
	base := &counting{FS: files(map[string]string{"sub/a.md": "x", "b.md": "x"}), fail: map[string]error{"sub": fs.ErrPermission}}
	v := read(t, Overlay(base, buffers(map[string]string{"sub/n.md": topic("n", "user")})), nil)
	if p := problems(v); !strings.Contains(p["sub"], "Check its permissions") {
		t.Error(p)
	}
	if b, err := v.LoadPath("sub/n.md"); err != nil || b.File.Value("name") != "n" {
		t.Error(b, err)
	}
}

// Editors type while Views are read, over one cache; run with -race.
func TestOverlayConcurrently(t *testing.T) {
	_, root := onDisk(t, map[string]string{"MEMORY.md": "- [A](t0.md)\n", "t0.md": topic("disk", "user"), "sub/t1.md": topic("disk", "user")})
	cache := NewCache()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 30 {
				name, src := "disk", Disk(root)
				if g%4 != 0 {
					name = fmt.Sprintf("%d%03d", g, i)
					src = Overlay(src, buffers(map[string]string{"t0.md": topic(name, "user"), "sub/t1.md": topic(name, "user"), "sub/new.md": "x"}))
				}
				v, err := Read(context.Background(), src, cache, Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				for _, p := range []string{"t0.md", "sub/t1.md"} {
					if b, err := v.LoadPath(p); err != nil || b.File.Value("name") != name || v.Topic(p).Meta.Name != name {
						t.Error(p, name, err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkOverlayView200(b *testing.B) {
	root := manyTopics(b, 200)
	cache := NewCache()
	index, err := fs.ReadFile(root.FS(), "MEMORY.md")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() { // a letter typed in a topic, the index open beside it
		i++
		open := map[string]Buffer{"MEMORY.md": {Text: string(index)}, "topic-1.md": {Text: topic(fmt.Sprint(i), "user"), Version: int32(i)}}
		if v, err := Read(context.Background(), Overlay(Disk(root), open), cache, Limits{}); err != nil || len(v.Topics) != 200 {
			b.Fatal(len(v.Topics), err)
		}
	}
}

// TestOverlayStat: it looks at what Open opens, and lists no folder for that.
func TestOverlayStat(t *testing.T) {
	base := files(map[string]string{"a.md": "a", "sub/b.md": "b"})
	src := Overlay(base, map[string]Buffer{"a.md": {Text: "longer"}, "new/c.md": {Text: "c"}, "sub/d.md": {Text: "d"}})
	for _, name := range []string{".", "a.md", "sub", "sub/b.md", "sub/d.md", "new", "new/c.md", "gone", "sub/gone"} {
		got, gotErr := fs.Stat(src, name)
		f, err := src.Open(name)
		if err != nil {
			if !errors.Is(gotErr, fs.ErrNotExist) {
				t.Errorf("%s: %v, want %v", name, gotErr, err)
			}
			continue
		}
		want, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if gotErr != nil || got.Name() != want.Name() || got.IsDir() != want.IsDir() || got.Size() != want.Size() || !got.ModTime().Equal(want.ModTime()) {
			t.Errorf("%s: %v, %v, want %v", name, got, gotErr, want)
		}
	}
}
