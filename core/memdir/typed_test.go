package memdir

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// summary is what a View holds, for comparing two.
func summary(t *testing.T, v *View) map[string]string {
	t.Helper()
	out := map[string]string{"index": fmt.Sprint(v.Index.Exists, v.Index.Hash), "nested": fmt.Sprint(v.Nested), "problems": fmt.Sprint(problems(v)), "logs": fmt.Sprint(v.Logs)}
	for _, topic := range v.Topics {
		b, err := v.Load(topic)
		if err != nil {
			t.Fatal(err)
		}
		out[topic.Path] = fmt.Sprint(topic.Meta, topic.Size, " ", topic.ModTime.UnixNano(), b.Hash)
		if v.Topic(topic.Path) != topic {
			t.Errorf("%s is found as another", topic.Path)
		}
	}
	return out
}

// old gives folders times at which it is certain that nothing came since.
func old(t *testing.T, dirs ...string) {
	t.Helper()
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, d := range dirs {
		if err := os.Chtimes(d, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is typed, Typed gives what Read gives.
func TestTypedIsAsRead(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": topic("a", "user"), "sub/b.md": topic("b", "project"), "c.md": "none\n", "logs/2026/01/2026-01-02.md": "x\n"})
	old(t, dir, filepath.Join(dir, "sub"), filepath.Join(dir, "logs"), filepath.Join(dir, "logs/2026"), filepath.Join(dir, "logs/2026/01"))
	texts := map[string]string{"MEMORY.md": "- [A](a.md) — y\n", "a.md": topic("a", "user"), "sub/b.md": topic("b", "user"), "README.md": "r\n", "only here.md": "o\n"}
	src := Disk(root)
	cache := NewCache()
	v := read(t, Overlay(src, buffers(texts)), cache)
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"---\n", "name: z\n", "type: user\n", "- [B](sub/b.md) — z\n", "\n", "中😀", ""}
	served := 0
	for i := range 200 {
		over := map[string]Buffer{}
		for p := range texts {
			if r.IntN(3) == 0 {
				s := texts[p]
				at := r.IntN(len(s) + 1)
				if r.IntN(4) == 0 {
					s = s[:at/2]
				} else {
					s = s[:at] + pieces[r.IntN(len(pieces))] + s[at:]
				}
				texts[p] = strings.ToValidUTF8(s, "")
			}
			over[p] = Buffer{Text: texts[p], Version: int32(i), ModTime: time.Unix(1_700_000_000+int64(len(texts[p])), 0)}
		}
		want := read(t, Overlay(src, over), NewCache())
		now, ok := v.Typed(context.Background(), over)
		if ok {
			served++
			if diff := cmp.Diff(summary(t, want), summary(t, now)); diff != "" {
				t.Fatalf("after %d steps (-Read +Typed):\n%s", i, diff)
			}
		} else {
			now = read(t, Overlay(src, over), cache)
		}
		v = now
	}
	if served < 190 {
		t.Errorf("only %d of 200 were served", served)
	}
}

func TestTypedNeedsARead(t *testing.T) {
	log := "logs/2026/01/2026-01-02.md"
	for name, change := range map[string]func(t *testing.T, dir string, texts map[string]string){
		"a file came": func(t *testing.T, dir string, _ map[string]string) {
			if err := os.WriteFile(filepath.Join(dir, "new.md"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a buffer came":  func(_ *testing.T, _ string, texts map[string]string) { texts["c.md"] = "" },
		"a buffer went":  func(_ *testing.T, _ string, texts map[string]string) { delete(texts, "a.md") },
		"another buffer": func(_ *testing.T, _ string, texts map[string]string) { delete(texts, "a.md"); texts["c.md"] = "" },
		"a buffer grew large": func(_ *testing.T, _ string, texts map[string]string) {
			texts["a.md"] = strings.Repeat("x", DefaultTopicBytes+1)
		},
		"a log": func(_ *testing.T, _ string, texts map[string]string) { texts[log] = "z\n" },
	} {
		t.Run(name, func(t *testing.T) {
			dir, root := onDisk(t, map[string]string{"MEMORY.md": "x\n", "a.md": "a\n", log: "x\n"})
			old(t, dir, filepath.Join(dir, "logs"), filepath.Join(dir, "logs/2026"), filepath.Join(dir, "logs/2026/01"))
			texts := map[string]string{"a.md": "b\n", log: "y\n"}
			v := read(t, Overlay(Disk(root), buffers(texts)), nil)
			if _, ok := v.Typed(context.Background(), buffers(texts)); !ok {
				t.Fatal("the same buffers need a read")
			}
			change(t, dir, texts)
			if _, ok := v.Typed(context.Background(), buffers(texts)); ok {
				t.Error("no read is needed")
			}
		})
	}
	if _, ok := read(t, files(map[string]string{"a.md": "a\n"}), nil).Typed(context.Background(), nil); ok {
		t.Error("a View without buffers needs no read")
	}
}

// What stood at a path is known until something comes or goes in its folder.
func TestExistsWhileNothingComes(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": topic("a", "user")})
	old(t, dir)
	texts := buffers(map[string]string{"MEMORY.md": "- [A](a.md) — y\n"})
	src := &counting{FS: Disk(root)}
	v := read(t, Overlay(src, texts), NewCache())
	for range 3 {
		if v.Exists("gone.txt") {
			t.Error("a file that is not there exists")
		}
	}
	if n := src.looks["gone.txt"]; n != 1 {
		t.Errorf("looked %d times", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "gone.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now, ok := v.Typed(t.Context(), texts)
	if !ok {
		now = read(t, Overlay(src, texts), NewCache())
	}
	if !now.Exists("gone.txt") {
		t.Error("a file that came does not exist")
	}
}

// Whatever changed, came or went, Changed gives what Read gives, or leaves it to Read; and
// so does Expecting, before.
func TestChangedIsAsRead(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": topic("a", "user"), "sub/b.md": topic("b", "project"),
		"c.md": "none\n", "logs/2026/01/2026-01-02.md": "x\n", "own/MEMORY.md": "x\n"})
	src, cache := Disk(root), NewCache()
	names := []string{"MEMORY.md", "a.md", "sub/b.md", "c.md", "d.md", "sub/e.md", "new/f.md", "logs/2026/01/2026-01-02.md", "own/g.md", "README.md"}
	r := rand.New(rand.NewPCG(5, 6))
	served, foreseen := 0, 0
	untimed := func(v *View) map[string]string { // what is not there yet has no time
		all := summary(t, v)
		for _, topic := range v.Topics {
			all[topic.Path] = strings.Replace(all[topic.Path], fmt.Sprint(topic.ModTime.UnixNano()), "", 1)
		}
		return all
	}
	for i := range 300 {
		v := read(t, src, cache)
		var paths []string
		texts, went := map[string]string{}, false
		for range 1 + r.IntN(3) {
			p := names[r.IntN(len(names))]
			file := filepath.Join(dir, filepath.FromSlash(p))
			var err error
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
			if r.IntN(3) == 0 {
				went = true
				delete(texts, p)
				if err = os.Remove(file); os.IsNotExist(err) {
					err = nil
				}
			} else {
				texts[p] = fmt.Sprintf("---\nname: n%d\ntype: user\n---\n%d\n", r.IntN(5), i)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var expected *View
		if !went {
			expected, _ = v.Expecting(t.Context(), texts)
		}
		for p, content := range texts {
			file := filepath.Join(dir, filepath.FromSlash(p))
			err := os.MkdirAll(filepath.Dir(file), 0o700)
			if err == nil {
				err = os.WriteFile(file+".next", []byte(content), 0o600)
			}
			if err == nil {
				err = os.Rename(file+".next", file)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if expected != nil {
			foreseen++
			if diff := cmp.Diff(untimed(read(t, src, NewCache())), untimed(expected)); diff != "" {
				t.Fatalf("change %d to %q (-read +expected):\n%s", i, texts, diff)
			}
		}
		now, ok := v.Changed(t.Context(), paths)
		if !ok {
			continue
		}
		served++
		if now.SameFiles() {
			t.Fatal("who looked at some files cannot know that no other came")
		}
		if diff := cmp.Diff(summary(t, read(t, src, cache)), summary(t, now)); diff != "" {
			t.Fatalf("change %d of %q (-read +changed):\n%s", i, paths, diff)
		}
	}
	if served < 100 || foreseen < 40 {
		t.Errorf("of 300 changes only %d needed no Read, and %d were foreseen", served, foreseen)
	}
}

// TestFirstIndexOfARepository: once an index stands at the root of a repository, only linked files
// are topics, and what was listed before it came is none.
func TestFirstIndexOfARepository(t *testing.T) {
	dir, root := onDisk(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n", "a.md": topic("a", "user"), "docs/install.md": "text\n"})
	src, cache := Disk(root), NewCache()
	v := read(t, src, cache)
	for p, text := range map[string]string{"b.md": topic("b", "user"), "MEMORY.md": "- [B](b.md) — x\n"} {
		write(t, dir, p, text)
	}
	paths := []string{"b.md", "MEMORY.md"}
	if now, ok := v.Changed(t.Context(), paths); ok {
		if diff := cmp.Diff(summary(t, read(t, src, cache)), summary(t, now)); diff != "" {
			t.Errorf("(-read +changed):\n%s", diff)
		}
	}
	v = read(t, src, cache) // and when it goes
	if err := os.Remove(filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if now, ok := v.Changed(t.Context(), paths); ok {
		if diff := cmp.Diff(summary(t, read(t, src, cache)), summary(t, now)); diff != "" {
			t.Errorf("(-read +changed):\n%s", diff)
		}
	}
}

// TestChangedNeedsAReadLater: whoever waited for long before they changed something reads all again.
func TestChangedNeedsAReadLater(t *testing.T) {
	_, root := onDisk(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": topic("a", "user")})
	v := read(t, Disk(root), nil)
	if _, ok := v.Changed(t.Context(), []string{"a.md"}); !ok {
		t.Error("a fresh View does not serve")
	}
	v.readAt = v.readAt.Add(-2 * changedWithin)
	if _, ok := v.Changed(t.Context(), []string{"a.md"}); ok {
		t.Error("an old View serves")
	}
}
