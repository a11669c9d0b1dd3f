package memdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// TestHalfWrittenHeads: a View that is read while a program writes a topic in place
// has what the program wrote, not a part of it.
func TestHalfWrittenHeads(t *testing.T) {
	const before = "---\nname: a\ndescription: something that is rather long\ntype: project\n---\n\nText of before.\n"
	const after = "---\nname: b\ndescription: short\ntype: user\n---\n\nText.\n"
	long := after + strings.Repeat("more words\n", 1000) // more than is read for a head
	old := func(t *testing.T, file string) {
		t.Helper()
		at := time.Now().Add(-time.Hour)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // so that the cache keeps it
	}
	tests := []struct {
		name, start, half, whole string
		late                     bool // the half is written while the file is read
	}{
		{"emptied", before, "", after, false},
		{"shorter than it was", before, after[:20], after, false},
		{"frontmatter is not closed in a new file", "", after[:20], after, false},
		{"a new file is empty", "", "", after, false},
		{"written to while it is read", before, after[:20], after, true},
		{"longer than what is read of it", before, after[:20], long, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, root := onDisk(t, map[string]string{"other.md": before})
			src, cache := &counting{FS: Disk(root)}, NewCache()
			file := filepath.Join(dir, "a.md")
			put := func(s string) {
				if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
					t.Error(err)
				}
			}
			if tt.start != "" {
				put(tt.start)
				old(t, file)
				read(t, src, cache)
			}
			if !tt.late {
				put(tt.half)
			} else {
				// Another time than the one in the cache, and not a new one.
				put(tt.start)
				at := time.Now().Add(-time.Minute)
				if err := os.Chtimes(file, at, at); err != nil {
					t.Fatal(err)
				}
			}
			opened := 0
			src.onOpen = func(name string) {
				if name != "a.md" {
					return
				}
				switch opened++; {
				case tt.late && opened == 1:
					put(tt.half)
				case opened == 2:
					put(tt.whole)
				}
			}
			got := read(t, src, cache).Topic("a.md")
			if got == nil || got.Meta.Name != "b" || got.Meta.Type != "user" || got.Size != int64(len(tt.whole)) {
				t.Errorf("got %+v after %d looks", got, opened)
			}
		})
	}
}

// TestHalfWrittenForLong: what stays half written is shown as it is, and a directory
// full of it is not waited for file by file.
func TestHalfWrittenForLong(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("%d.md", i)] = "---\nname: a\n"
	}
	_, root := onDisk(t, files)
	start := time.Now()
	v := read(t, Disk(root), NewCache())
	if len(v.Topics) != 200 || v.Topics[0].Meta.Name != "a" {
		t.Errorf("%d topics, the first %+v", len(v.Topics), v.Topics[0])
	}
	if took := time.Since(start); took > 10*viewPatience {
		t.Errorf("it took %v", took)
	}
}

// TestShorterIndexInPlaceOfAnother: an index that another took the place of is whole,
// however fresh both are and however much shorter the second is.
func TestShorterIndexInPlaceOfAnother(t *testing.T) {
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [a](a.md) — 1\n- [b](b.md) — 2\n"})
	src, cache := &counting{FS: Disk(root)}, NewCache()
	read(t, src, cache)
	src.opens = nil
	next := filepath.Join(dir, ".next")
	if err := os.WriteFile(next, []byte("- [a](a.md) — 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if v := read(t, src, cache); len(v.Index.Entries) != 1 {
		t.Errorf("%d entries", len(v.Index.Entries))
	}
	if n := src.opens["MEMORY.md"]; n != 1 {
		t.Errorf("read %d times", n)
	}
}
