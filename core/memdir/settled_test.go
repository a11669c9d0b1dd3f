package memdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mem/core/memfile"
)

// TestHalfWrittenFiles: a program that empties a file and then writes it is seen
// in between.
func TestHalfWrittenFiles(t *testing.T) {
	const before, after = "- [a](a.md) — something long\n", "- [a](a.md) — 2\n"
	for _, p := range []string{"a.md", memfile.IndexName} {
		for _, half := range []string{"", after[:5]} {
			dir, root := onDisk(t, map[string]string{p: before})
			src, cache := &counting{FS: Disk(root)}, NewCache()
			file := filepath.Join(dir, p)
			at := time.Now().Add(-time.Hour)
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
			look := func() string {
				if p == memfile.IndexName {
					return read(t, src, cache).Index.Text().String()
				}
				b, err := cache.Load(src, p, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				return b.File.Text.String()
			}
			time.Sleep(30 * time.Millisecond) // so that the cache keeps it
			if got := look(); got != before {
				t.Fatalf("got %q", got)
			}
			if err := os.WriteFile(file, []byte(half), 0o600); err != nil {
				t.Fatal(err)
			}
			opened := 0
			src.onOpen = func(name string) {
				if name != p {
					return
				}
				if opened++; opened == 2 {
					if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
			if got := look(); got != after {
				t.Errorf("%s, half written as %q: got %q", p, half, got)
			}
		}
	}
}
