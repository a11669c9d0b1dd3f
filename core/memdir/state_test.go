//go:build linux || darwin

package memdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReplacedWithTheSameTime: cp -p and rsync -t give a file the time of the one
// it replaces; sizes are equal by chance.
func TestReplacedWithTheSameTime(t *testing.T) {
	const before, after = "---\nname: one\n---\nx\n", "---\nname: two\n---\nx\n"
	dir, root := onDisk(t, map[string]string{"a.md": before, "b.md": before, "MEMORY.md": "- [a](a.md) — 1\n"})
	src, cache := Disk(root), NewCache()
	at := time.Now().Add(-time.Hour)
	for _, p := range []string{"a.md", "b.md", "MEMORY.md"} {
		if err := os.Chtimes(filepath.Join(dir, p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	look := func() (string, string, string, string) {
		v := read(t, src, cache)
		a, err := cache.Load(src, "a.md", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return v.Topic("a.md").Name(), v.Topic("b.md").Name(), a.File.Value("name"), v.Index.Text().String()
	}
	look()
	time.Sleep(30 * time.Millisecond)
	// In place, as cp -p writes, and by a rename, as rsync does.
	for p, content := range map[string]string{"a.md": after, "MEMORY.md": "- [a](a.md) — 2\n"} {
		if err := os.WriteFile(filepath.Join(dir, p), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b.tmp"), []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "b.tmp"), at, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "b.tmp"), filepath.Join(dir, "b.md")); err != nil {
		t.Fatal(err)
	}
	if a, b, body, index := look(); a != "two" || b != "two" || body != "two" || index != "- [a](a.md) — 2\n" {
		t.Errorf("a view and a read gave %q, %q, %q, %q", a, b, body, index)
	}
}
