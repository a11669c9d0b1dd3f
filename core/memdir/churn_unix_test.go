//go:build unix

package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChurn lets names become files, folders, pipes and links, in any order, while Views of the
// directory are read: none fails or waits, none shows what lies outside, and once it is quiet, what the
// cache gives is what is there.
func TestChurn(t *testing.T) {
	outside, _ := onDisk(t, map[string]string{"a.md": "---\nname: outside\n---\n", "sub/b.md": "---\nname: outside\n---\n"})
	dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [a](a.md) — 1\n"})
	src, cache := Disk(root), NewCache()
	names := []string{"a.md", "b.md", "sub", "sub/b.md", "sub/c.md", "MEMORY.md", "\xff.md", "README.md", "own", "own/MEMORY.md", "own/d.md", "logs/2026/01/2026-01-02.md"}
	change := func(r *rand.Rand) error {
		p := names[r.IntN(len(names))]
		at := filepath.Join(dir, filepath.FromSlash(p))
		next := filepath.Join(dir, ".next")
		if info, err := os.Lstat(filepath.Dir(at)); err == nil && !info.IsDir() {
			return nil // and os.RemoveAll would wait for a pipe there
		}
		if err := os.RemoveAll(next); err != nil {
			return err
		}
		err := error(nil)
		kind := r.IntN(8)
		if p == "MEMORY.md" {
			kind = min(kind, 3)
		}
		switch kind {
		case 0, 1: // another file takes its place
			err = os.WriteFile(next, fmt.Appendf(nil, "---\nname: n%d\n---\n%s", r.IntN(9), strings.Repeat("x", r.IntN(2)*5000)), 0o600)
		case 2: // it is written in place
			if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() {
				return nil
			}
			return os.WriteFile(at, fmt.Appendf(nil, "---\nname: n%d\n---\n", r.IntN(9)), 0o600)
		case 3:
			return os.RemoveAll(at)
		case 4:
			err = os.Mkdir(next, 0o700)
		case 5:
			err = syscall.Mkfifo(next, 0o600)
		case 6:
			err = os.Symlink(filepath.Join(outside, filepath.Base(p)), next)
		case 7: // a folder with something in it
			err = errors.Join(os.Mkdir(next, 0o700), os.WriteFile(filepath.Join(next, "b.md"), []byte("---\nname: inner\n---\n"), 0o600))
		}
		return errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o700), os.RemoveAll(at), os.Rename(next, at))
	}
	r := rand.New(rand.NewPCG(1, 2))
	look := func(c *Cache) (*View, error) {
		v, err := Read(t.Context(), src, c, Limits{IndexMayFail: true})
		if err == nil {
			for _, topic := range v.Topics {
				if topic.Meta.Name == "outside" {
					err = fmt.Errorf("%s shows what lies outside", topic.Path)
				}
			}
		}
		return v, err
	}
	for round := range 25 {
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					v, err := look(cache)
					if err != nil {
						t.Error(err)
						return
					}
					if _, ok := v.Changed(t.Context(), []string{"a.md", "sub/b.md"}); ok {
						v.Exists("sub/c.md")
					}
				}
			})
		}
		for range 20 {
			var link *os.LinkError
			var path *fs.PathError
			if err := change(r); err != nil && !errors.As(err, &link) && !errors.As(err, &path) { // below what is no folder now
				t.Fatal(err)
			}
		}
		close(stop)
		readers.Wait()
		now, err := look(cache)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := look(nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(summary(t, fresh), summary(t, now)); diff != "" {
			t.Fatalf("round %d (-fresh +cached):\n%s", round, diff)
		}
	}
}
