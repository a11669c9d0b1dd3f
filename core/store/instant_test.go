package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/internal/fastdir"
)

// crashed is what an instant panics with to end an operation as kill -9 does.
type crashed struct{}

// without gives an instant for a system that lacks operations.
func without(missing ...string) func(op, name string) error {
	return func(op, _ string) error {
		if slices.Contains(missing, op) {
			return errors.ErrUnsupported
		}
		return nil
	}
}

// systems are what there is to replace a file with, by name.
var systems = []struct {
	name    string
	missing []string
}{
	{"exchange", nil},
	{"links", []string{"exchange", "put"}},
	{"rename", []string{"exchange", "put", "link"}},
}

// counter counts instants and does something at one of them.
type counter struct {
	n   int
	ops []string
	at  map[int]func() error // counted from 1
	all func(op, name string) error
}

func (c *counter) instant(op, name string) error {
	c.n++
	c.ops = append(c.ops, op+" "+name)
	if f := c.at[c.n]; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	if c.all != nil {
		return c.all(op, name)
	}
	return nil
}

// op names the k-th operation for messages.
func (c *counter) op(k int) string {
	if k < 1 || k > len(c.ops) {
		return "no operation"
	}
	return fmt.Sprintf("operation %d of %d (%s)", k, len(c.ops), c.ops[k-1])
}

func crash() error { panic(crashed{}) }

// surviving runs f and reports whether it crashed.
func surviving(f func()) (died bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(crashed); !ours {
				panic(p)
			}
			died = true
		}
	}()
	f()
	return false
}

// caselessEnv says that the folder for temporary files is one where letter case does not
// count, for which scripts/caseless.sh makes one: these tests are to run there.
const caselessEnv = "MEM_CASELESS"

// fastDir is a directory in memory where there is one: these tests do thousands
// of durable writes.
func fastDir(t *testing.T) string {
	t.Helper()
	if os.Getenv(caselessEnv) != "" {
		return t.TempDir()
	}
	return fastdir.New(t)
}

// tree reads all files of a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".fuse_hidden") { // removed, and open in this process
			return err
		}
		b, err := os.ReadFile(p)
		rel, relErr := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return errors.Join(err, relErr)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// scenario is a change that is looked at instant by instant.
type scenario struct {
	name  string
	setup func(t *testing.T, s *Store)
	act   func(t *testing.T, s *Store) (*Result, error)
}

// scenarios make each kind of change.
func scenarios() []scenario {
	two := func(t *testing.T, s *Store) {
		write(t, s, memory("one", "## A\n\na\n\n## B\n\nb"))
		write(t, s, memory("two", "see [one](one.md)"))
	}
	apply := func(t *testing.T, s *Store, c change.Change, err error) (*Result, error) {
		if err != nil {
			t.Fatal(err)
		}
		return s.Apply(t.Context(), c, How{})
	}
	return []scenario{
		{"the first memory", func(*testing.T, *Store) {}, func(t *testing.T, s *Store) (*Result, error) {
			c, err := (&Reading{View: emptyView(t)}).Create("one.md", memory("one", "text"), stamp)
			return apply(t, s, c, err)
		}},
		{"create with entry", two, func(t *testing.T, s *Store) (*Result, error) {
			c, err := plainView(t, s).Create("sub/new.md", memory("new", "text"), stamp)
			return apply(t, s, c, err)
		}},
		{"edit", two, func(t *testing.T, s *Store) (*Result, error) {
			c, err := memdir.Edit("one.md", readFile(t, s, "one.md"), memdir.EditOf{Old: "\na\n", New: "\nA!\n"}, memfile.FormFlat, stamp)
			return apply(t, s, c, err)
		}},
		{"delete", two, func(t *testing.T, s *Store) (*Result, error) {
			return apply(t, s, plainView(t, s).Delete("one.md", readFile(t, s, "one.md")), nil)
		}},
		{"rename", two, func(t *testing.T, s *Store) (*Result, error) {
			v := plainView(t, s)
			c, _, err := v.Move(t.Context(), v.Topic("one.md"), "sub/uno.md")
			return apply(t, s, c, err)
		}},
		{"rename by letter case", two, func(t *testing.T, s *Store) (*Result, error) {
			v := plainView(t, s)
			c, _, err := v.Move(t.Context(), v.Topic("one.md"), "One.md")
			return apply(t, s, c, err)
		}},
		{"append to a new log", two, func(t *testing.T, s *Store) (*Result, error) {
			return apply(t, s, memdir.Log(memdir.LogNote{Name: "n", Body: "noted"}, stamp), nil)
		}},
		{"append", func(t *testing.T, s *Store) {
			two(t, s)
			if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Name: "m", Body: "before"}, stamp), How{}); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, s *Store) (*Result, error) {
			return apply(t, s, memdir.Log(memdir.LogNote{Name: "n", Body: "noted"}, stamp), nil)
		}},
		{"undo of a rename", func(t *testing.T, s *Store) {
			two(t, s)
			v := plainView(t, s)
			c, _, err := v.Move(t.Context(), v.Topic("one.md"), "sub/uno.md")
			if _, err := apply(t, s, c, err); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, s *Store) (*Result, error) {
			other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()))
			if _, _, err := other.History("", "", 1); err != nil {
				t.Fatal(err)
			}
			return s.Undo(t.Context(), other.journal.lastID(), How{})
		}},
	}
}

// plainView reads the directory without looking at the journal.
func plainView(t *testing.T, s *Store) *memdir.View {
	t.Helper()
	v, err := memdir.Read(t.Context(), os.DirFS(s.Directory()), nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func emptyView(t *testing.T) *memdir.View {
	t.Helper()
	v, err := memdir.Read(t.Context(), emptyFS{}, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// stage is a scenario set up in a directory of its own.
type stage struct {
	dir, state string
	before     map[string]string
	newest     string // change of the setup
}

func (sc scenario) stage(t *testing.T) *stage {
	t.Helper()
	base := fastDir(t)
	st := &stage{dir: filepath.Join(base, "memory"), state: filepath.Join(base, "state")}
	s := reopen(t, st.dir, st.state)
	sc.setup(t, s)
	st.before, st.newest = tree(t, st.dir), s.journal.lastID()
	return st
}

// stages gives the stage of a scenario again and again, each as if it had just been set up, of
// which there is one at a time.
func (sc scenario) stages(t *testing.T) func() *stage {
	t.Helper()
	st := sc.stage(t)
	base := filepath.Dir(st.dir)
	saved := save(t, base)
	return func() *stage {
		putBack(t, base, saved)
		return &stage{dir: st.dir, state: st.state, before: maps.Clone(st.before), newest: st.newest}
	}
}

// entry is a file, or a folder, as it was saved.
type entry struct {
	path string
	mode fs.FileMode
	text []byte
}

// save keeps all that is below a directory, folders before what is in them.
func save(t *testing.T, base string) (all []entry) {
	t.Helper()
	err := filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == base {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{path: p, mode: info.Mode()}
		if info.Mode().IsRegular() {
			e.text, err = os.ReadFile(p)
		}
		all = append(all, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// putBack makes a directory hold what was saved and nothing else. The folders are others,
// so that no lock of one that crashed holds.
func putBack(t *testing.T, base string, saved []entry) {
	t.Helper()
	old, err := os.ReadDir(base)
	for _, e := range old {
		err = errors.Join(err, os.RemoveAll(filepath.Join(base, e.Name())))
	}
	for _, e := range saved {
		switch {
		case e.mode.IsDir():
			err = errors.Join(err, os.Mkdir(e.path, e.mode.Perm()))
		case e.mode.IsRegular():
			err = errors.Join(err, os.WriteFile(e.path, e.text, e.mode.Perm()))
		default:
			err = errors.Join(err, fmt.Errorf("%s is %v", e.path, e.mode))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (st *stage) open(t *testing.T, c *counter) *Store {
	t.Helper()
	return reopen(t, st.dir, st.state, func(o *Options) {
		if c != nil {
			o.instant = c.instant
		}
	})
}

// rehearse makes the change of a scenario undisturbed: it gives the files
// afterwards and the operations it took.
func (sc scenario) rehearse(t *testing.T, missing ...string) (after map[string]string, c *counter) {
	t.Helper()
	st := sc.stage(t)
	c = &counter{all: without(missing...)}
	if _, err := sc.act(t, st.open(t, c)); err != nil {
		t.Fatal(err)
	}
	return tree(t, st.dir), c
}

// checkEither makes sure that the files are as before or as after, that nothing
// is left behind, that the journal agrees, and that there is nothing to recover.
func (st *stage) checkEither(t *testing.T, after map[string]string, what string) {
	t.Helper()
	s := st.open(t, nil)
	v := view(t, s)
	if len(v.Losses) > 0 {
		t.Errorf("%s: losses %v", what, v.Losses)
	}
	got := tree(t, st.dir)
	isBefore, isAfter := maps.Equal(got, st.before), maps.Equal(got, after)
	if !isBefore && !isAfter {
		t.Errorf("%s: the change was made by half:\n%s", what, show(got))
		return
	}
	c := &counter{}
	again := st.open(t, c)
	if v := view(t, again); len(v.Notes) > 0 || len(v.Losses) > 0 {
		t.Errorf("%s: a second recovery has something to do: %v %v", what, v.Notes, v.Losses)
	}
	for _, op := range c.ops {
		if !strings.HasPrefix(op, "list") && !strings.HasPrefix(op, "read") && !strings.HasPrefix(op, "mkdir") && !strings.HasPrefix(op, "lock") {
			t.Errorf("%s: a second recovery did: %s", what, op)
		}
	}
	if open := again.journal.unmarked(); len(open) > 0 {
		t.Errorf("%s: %d changes have no mark", what, len(open))
	}
	events, _, err := again.History("", "", 1)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	made := len(events) > 0 && !events[0].Aborted && events[0].ID != st.newest
	if isAfter && !isBefore && !made {
		t.Errorf("%s: the change stands and is not in the history", what)
	}
	if isBefore && made {
		t.Errorf("%s: the change does not stand and is in the history as made", what)
	}
}

func show(files map[string]string) string {
	var b strings.Builder
	for p, s := range files {
		fmt.Fprintf(&b, "--- %s\n%s\n", p, s)
	}
	return b.String()
}
