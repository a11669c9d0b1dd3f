package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memdir"
)

// An outsider is a program without locks that does something to a file at an
// instant of ours.
type outsider struct {
	name string
	// do is called at the instant and at each one after it, with a count from 0.
	do func(t *testing.T, p string, turn int)
	// keeps is what must be found afterwards: in a file, or in the history.
	keeps string
	// foreign is set where what it leaves is no plain file.
	foreign bool
}

const theirLine = "- [theirs](theirs.md) — by another program\n"

func outsiders() []outsider {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(p string) string {
		b, _ := os.ReadFile(p)
		return string(b)
	}
	once := func(f func(t *testing.T, p string)) func(*testing.T, string, int) {
		return func(t *testing.T, p string, turn int) {
			if turn == 0 {
				f(t, p)
			}
		}
	}
	old := map[string]string{}
	open := map[string]*os.File{} // kept open, whatever becomes of the name
	return []outsider{
		{name: "adds a line in place", keeps: theirLine, do: once(func(t *testing.T, p string) {
			must(t, os.WriteFile(p, []byte(read(p)+theirLine), 0o644))
		})},
		{name: "adds a line by rename", keeps: theirLine, do: once(func(t *testing.T, p string) {
			must(t, os.WriteFile(p+".theirs", []byte(read(p)+theirLine), 0o644))
			must(t, os.Rename(p+".theirs", p))
		})},
		{name: "rewrites all", keeps: "# All mine\n", do: once(func(t *testing.T, p string) {
			must(t, os.WriteFile(p, []byte("# All mine\n"), 0o644))
		})},
		{name: "truncates, and writes later", keeps: theirLine, do: func(t *testing.T, p string, turn int) {
			switch turn {
			case 0:
				old[p] = read(p)
				// It keeps the file open, whatever becomes of its name.
				f, err := os.OpenFile(p, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o644)
				must(t, err)
				t.Cleanup(func() { _ = f.Close() })
				open[p] = f
			case 2:
				_, err := open[p].WriteString(old[p] + theirLine)
				must(t, err)
			}
		}},
		{name: "deletes it", do: once(func(t *testing.T, p string) { _ = os.Remove(p) })},
		{name: "puts a folder there", foreign: true, do: once(func(t *testing.T, p string) {
			_ = os.Remove(p)
			must(t, os.MkdirAll(filepath.Join(p, "inside"), 0o755))
		})},
		{name: "puts a link there", foreign: true, do: once(func(t *testing.T, p string) {
			_ = os.Remove(p)
			must(t, os.Symlink("elsewhere.md", p))
		})},
	}
}

func TestOutsiderAtEachInstant(t *testing.T) {
	for _, sc := range scenarios() {
		_, ops := sc.rehearse(t)
		for _, target := range []string{"MEMORY.md", "one.md"} {
			for _, out := range outsiders() {
				if strings.HasPrefix(sc.name, "append") || sc.name == "the first memory" && target == "one.md" {
					continue // they do not touch these
				}
				t.Run(fmt.Sprintf("%s/%s/%s", sc.name, target, out.name), func(t *testing.T) {
					for k := 1; k <= ops.n; k++ {
						st := sc.stage(t)
						out.meets(t, st, sc, target, k, "another program at "+ops.op(k))
					}
				})
			}
		}
	}
}

// meets lets an outsider act on a file from the k-th operation of a change on,
// and checks that nothing is lost.
func (out outsider) meets(t *testing.T, st *stage, sc scenario, target string, k int, what string) {
	t.Helper()
	p := filepath.Join(st.dir, target)
	turn := -1
	c := &counter{}
	busy := false
	c.all = func(string, string) error {
		if _, err := os.Stat(st.dir); err != nil {
			return nil // nothing to write to yet
		}
		if c.n >= k && !busy {
			busy = true
			turn++
			out.do(t, p, turn)
			busy = false
		}
		return nil
	}
	s := st.open(t, c)
	r, err := sc.act(t, s)
	if turn < 0 {
		return
	}
	for turn < 3 {
		turn++
		out.do(t, p, turn)
	}
	out.check(t, st, target, r, err, what)
}

func (out outsider) check(t *testing.T, st *stage, target string, r *Result, err error, what string) {
	t.Helper()
	s := st.open(t, nil)
	_, viewErr := s.View(t.Context())
	if viewErr != nil && !out.foreign {
		t.Errorf("%s: view: %v", what, viewErr)
	}
	if out.foreign {
		info, err := os.Lstat(filepath.Join(st.dir, target))
		if err != nil || info.Mode().IsRegular() {
			t.Errorf("%s: what was put there is gone: %v %v", what, info, err)
		}
	} else if out.keeps != "" && !found(t, s, out.keeps) {
		t.Errorf("%s: what it wrote is nowhere; result %+v, %v\n%s", what, r, err, show(tree(t, st.dir)))
	}
	onlyOurs(t, s)
	if t.Failed() {
		t.Logf("%s: result %+v, %v", what, r, err)
	}
	if err == nil {
		// What was acknowledged is in a file or in the history.
		for _, f := range r.Files {
			if f.Action == "unchanged" || f.Action == "deleted" {
				continue
			}
			if !found(t, s, f.After) {
				t.Errorf("%s: the acknowledged text of %s is nowhere", what, f.Path)
			}
		}
		return
	}
	var conflict *ConflictError
	var file *memdir.FileError
	if !errors.As(err, &conflict) && !errors.As(err, &file) && !strings.Contains(err.Error(), "another program") {
		t.Errorf("%s: unexpected error %v", what, err)
	}
	// What failed is not there by half: neither of the files has our part.
	files := tree(t, st.dir)
	for p, s := range files {
		if p != target && s != st.before[p] && !strings.HasPrefix(p, target) {
			t.Errorf("%s: failed with %v, and yet %s was left changed: %q", what, err, p, s)
		}
	}
	for p := range st.before {
		if _, ok := files[p]; !ok && p != target {
			t.Errorf("%s: failed with %v, and yet %s is gone", what, err, p)
		}
	}
}

// found looks for a text in all files and in the history.
func found(t *testing.T, s *Store, text string) bool {
	t.Helper()
	for _, content := range tree(t, s.Directory()) {
		if strings.Contains(content, text) {
			return true
		}
	}
	events, _, err := s.History("", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		e, err := s.Event(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range e.Files {
			if strings.Contains(f.Old, text) || strings.Contains(f.New, text) {
				return true
			}
		}
	}
	return false
}
