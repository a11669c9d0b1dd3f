package memdir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/internal/need"
)

// onDisk writes files below a new directory, opens it as the store does, and
// makes them old enough for the cache.
func onDisk(t testing.TB, contents map[string]string) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	for p, c := range contents {
		write(t, dir, p, c)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	time.Sleep(racy + 10*time.Millisecond) // what changed just now is not cached
	return dir, root
}

func write(t testing.TB, dir, p, content string) {
	t.Helper()
	p = filepath.Join(dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(p, old, old); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link. On Windows that needs a right that not every
// account has; there the test fails loudly rather than proving nothing.
func link(t testing.TB, target, p string) {
	t.Helper()
	if err := os.Symlink(target, p); err != nil {
		t.Fatalf("this test needs to make symbolic links (%s): %v", runtime.GOOS, err)
	}
}

func TestDisk(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [A](a.md)\n", "a.md": topic("a", "user"), "sub/b.md": topic("b", "user"), "logs/2026/01/2026-01-02.md": "x"})
	cache := NewCache()
	v := read(t, root.FS(), cache)
	if d := cmp.Diff([]string{"a.md", "sub/b.md"}, paths(v)); d != "" || len(v.Logs) != 1 || len(v.Problems) != 0 {
		t.Error(d, v.Logs, v.Problems)
	}
	if w := read(t, root.FS(), cache); w.Topic("a.md") != v.Topic("a.md") || w.Index != v.Index {
		t.Error("nothing changed")
	}
	b, err := v.LoadPath("sub/b.md")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := v.LoadPath("sub/b.md"); err != nil || c != b {
		t.Error("a body is read once", err)
	}
	write(t, dir, "sub/b.md", topic("c", "user")+"longer\n")
	if w := read(t, root.FS(), cache); w.Topic("sub/b.md").Meta.Name != "c" {
		t.Error("b changed")
	}
	if c, err := v.LoadPath("sub/b.md"); err != nil || c == b || c.File.Value("name") != "c" {
		t.Error("b changed", err)
	}
	// A file replaced in the same instant, by one of the same size.
	now := time.Now()
	for _, content := range []string{"---\nname: x1\n---\n", "---\nname: x2\n---\n"} {
		write(t, dir, "new.md", content)
		if err := os.Chtimes(filepath.Join(dir, "new.md"), now, now); err != nil {
			t.Fatal(err)
		}
		if w := read(t, root.FS(), cache); w.Topic("new.md").Meta.Name != strings.Fields(content)[2] {
			t.Error(w.Topic("new.md").Meta.Name)
		}
	}
}

func TestSymbolicLinks(t *testing.T) {
	outside, _ := onDisk(t, map[string]string{"secret.md": topic("secret", "user"), "folder/x.md": topic("x", "user")})
	dir, root := onDisk(t, map[string]string{"a.md": topic("a", "user"), "sub/b.md": topic("b", "user"), "plain.txt": "x"})
	at := func(p string) string { return filepath.Join(dir, p) }
	link(t, "a.md", at("inside.md"))
	link(t, filepath.Join(outside, "secret.md"), at("outside.md"))
	link(t, "loop.md", at("loop.md"))
	link(t, "nowhere.md", at("dangling.md"))
	link(t, "sub", at("insidedir"))
	link(t, filepath.Join(outside, "folder"), at("outsidedir"))
	link(t, ".", at("sub/up"))
	link(t, "plain.txt", at("plain2.txt"))
	link(t, "nowhere", at("danglingdir"))
	v := read(t, root.FS(), nil)
	if d := cmp.Diff([]string{"a.md", "sub/b.md"}, paths(v)); d != "" {
		t.Error(d)
	}
	got := problems(v)
	for _, p := range []string{"inside.md", "outside.md", "loop.md", "dangling.md"} {
		if !strings.Contains(got[p], "symbolic link") || !strings.Contains(got[p], "Put the file itself here") {
			t.Errorf("%s: %q", p, got[p])
		}
	}
	for _, p := range []string{"insidedir", "outsidedir", "sub/up"} {
		if !strings.Contains(got[p], "symbolic link to a folder") {
			t.Errorf("%s: %q", p, got[p])
		}
	}
	if len(got) != 7 {
		t.Error(got)
	}
	for _, p := range []string{"inside.md", "outside.md", "loop.md", "insidedir/b.md", "outsidedir/x.md", "sub/up/b.md"} {
		b, err := v.LoadPath(p)
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s is read: %v %v", p, b, err)
		}
	}
	for _, p := range []string{"", ".", "..", "../x.md", "/etc/passwd", "sub/../a.md", "a.md/", "sub"} {
		if b, err := v.LoadPath(p); err == nil {
			t.Errorf("%q is read: %v", p, b)
		}
	}
}

func TestIndexThatIsNoFile(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, p string){
		"symbolic link": func(t *testing.T, p string) { link(t, "a.md", p) },
		"folder":        func(t *testing.T, p string) { _ = os.Mkdir(p, 0o700) },
	} {
		dir, root := onDisk(t, map[string]string{"a.md": "x"})
		make(t, filepath.Join(dir, "MEMORY.md"))
		_, err := Read(context.Background(), root.FS(), nil, Limits{})
		var fe *FileError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), "MEMORY.md is a "+name) || !strings.Contains(err.Error(), "put a plain file in its place") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFoldersAndLargeFiles(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"a.md": "x", "folder.md/inner.md": "x", "deep/" + strings.Repeat("d/", maxDepth) + "x.md": "x"})
	write(t, dir, "huge.md", "")
	if err := os.Truncate(filepath.Join(dir, "huge.md"), 100<<20); err != nil { // takes no room
		t.Fatal(err)
	}
	v := read(t, root.FS(), nil)
	got := problems(v)
	if !strings.Contains(got["folder.md"], "Rename it") {
		t.Error(got)
	}
	if !strings.Contains(got["huge.md"], "104857600 bytes") || !strings.Contains(got["huge.md"], "limits.topic_bytes") {
		t.Error(got)
	}
	if !strings.Contains(got["deep/"+strings.Repeat("d/", maxDepth-1)+"d"], "deeper than 16 folders") {
		t.Error(got)
	}
	if d := cmp.Diff([]string{"a.md"}, paths(v)); d != "" || len(got) != 3 {
		t.Error(d, got)
	}
	if _, err := v.LoadPath("huge.md"); err == nil || !strings.Contains(err.Error(), "huge.md has more than 8388608 bytes") {
		t.Error(err)
	}
	// A lower limit of the configuration.
	v, err := Read(context.Background(), root.FS(), nil, Limits{TopicBytes: 200 << 20})
	if err != nil || v.Topic("huge.md") == nil {
		t.Error(err, "a higher limit lets it in")
	}
	write(t, dir, "MEMORY.md", "")
	if err := os.Truncate(filepath.Join(dir, "MEMORY.md"), 100<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(context.Background(), root.FS(), nil, Limits{}); err == nil || !strings.Contains(err.Error(), "MEMORY.md has more than") {
		t.Error(err)
	}
}

// TestFolderThatMayOnlyBeListed: its files are told of, each as one that cannot be read.
func TestFolderThatMayOnlyBeListed(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "# I\n", "sub/a.md": topic("a", "user"), "sub/b.txt": "x"})
	if err := os.Chmod(filepath.Join(dir, "sub"), 0o400); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "sub"), 0o700) })
	v := read(t, Disk(root), nil)
	if why := problems(v)["sub/a.md"]; len(v.Topics) != 0 || len(v.Problems) != 1 || !strings.Contains(why, "permission denied") {
		t.Errorf("%v, %v", paths(v), v.Problems)
	}
	if !v.Exists("sub/c.txt") {
		t.Error("what may not be looked at is said to be missing")
	}
}
