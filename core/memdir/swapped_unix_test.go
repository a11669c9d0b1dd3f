//go:build unix

package memdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// swapping is a source in which something takes the place of a file or folder just before
// it is opened or listed, after it was looked at.
type swapping struct {
	disk
	swap map[string]func() // each is called once
}

func (s swapping) now(name string) {
	if f := s.swap[name]; f != nil {
		f()
	}
}

func (s swapping) Open(name string) (fs.File, error) {
	s.now(name)
	return s.disk.Open(name)
}

func (s swapping) ReadDir(name string) ([]fs.DirEntry, error) {
	s.now(name)
	return s.disk.ReadDir(name)
}

// TestPipeInPlace: a pipe, or a link to one, that takes the place of what was just looked at is
// not waited for.
func TestPipeInPlace(t *testing.T) {
	for _, target := range []string{"a.md", "sub", "MEMORY.md", "logs"} {
		for _, how := range []string{"pipe", "link to a pipe"} {
			t.Run(target+"/"+how, func(t *testing.T) {
				dir, root := onDisk(t, map[string]string{"MEMORY.md": "- [a](a.md) — 1\n", "a.md": topic("a", "user"), "z.md": topic("z", "user"), "sub/b.md": topic("b", "user"),
					"logs/2026/01/2026-01-02.md": "x\n"})
				at := filepath.Join(dir, target)
				src := swapping{Disk(root).(disk), map[string]func(){target: sync.OnceFunc(func() {
					if err := os.Rename(at, filepath.Join(dir, ".away")); err != nil {
						t.Error(err)
					}
					pipe := at
					if how != "pipe" {
						pipe = filepath.Join(dir, ".pipe")
						if err := os.Symlink(".pipe", at); err != nil {
							t.Error(err)
						}
					}
					if err := syscall.Mkfifo(pipe, 0o600); err != nil {
						t.Error(err)
					}
				})}}
				done := make(chan error, 1)
				var v *View
				go func() {
					var err error
					v, err = Read(t.Context(), src, nil, Limits{IndexMayFail: true})
					done <- err
				}()
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
				case <-time.After(5 * time.Second):
					t.Fatal("a pipe is waited for")
				}
				if v.Topic("z.md") == nil || v.Topic(target) != nil || target == "sub" && v.Topic("sub/b.md") != nil {
					t.Errorf("%v", paths(v))
				}
				if why := problems(v)[target]; why == "" || strings.Contains(why, root.Name()) && target != "sub" && target != "logs" {
					t.Errorf("it says %q", why)
				}
			})
		}
	}
	var file *FileError
	_, root := onDisk(t, map[string]string{"a.md": "x"})
	if err := syscall.Mkfifo(filepath.Join(root.Name(), "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Disk(root).Open("pipe.md"); !errors.As(err, &file) || file.Path != "pipe.md" {
		t.Errorf("%v", err)
	}
}
