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
	do func(t *testing.T, p string, turn int, m *memo)
	// keeps is what must be found afterwards: in a file, or in the history.
	keeps    string
	replaces bool // it puts another file in the place, instead of writing to it
	foreign  bool // what it leaves is no plain file
}

// memo is what an outsider remembers between its turns.
type memo struct {
	old  string
	file *os.File // kept open, whatever becomes of the name
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
	once := func(f func(t *testing.T, p string)) func(*testing.T, string, int, *memo) {
		return func(t *testing.T, p string, turn int, _ *memo) {
			if turn == 0 {
				f(t, p)
			}
		}
	}
	return []outsider{
		{name: "adds a line in place", keeps: theirLine, do: once(func(t *testing.T, p string) {
			must(t, os.WriteFile(p, []byte(read(p)+theirLine), 0o644))
		})},
		{name: "adds a line by rename", replaces: true, keeps: theirLine, do: once(func(t *testing.T, p string) {
			must(t, os.WriteFile(p+".theirs", []byte(read(p)+theirLine), 0o644))
			must(t, os.Rename(p+".theirs", p))
		})},
		{name: "rewrites all", keeps: "# All mine\n", do: once(func(t *testing.T, p string) {
			must(t, os.WriteFile(p, []byte("# All mine\n"), 0o644))
		})},
		{name: "truncates, and writes later", keeps: theirLine, do: func(t *testing.T, p string, turn int, m *memo) {
			switch turn {
			case 0:
				m.old = read(p)
				f, err := os.OpenFile(p, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o644)
				must(t, err)
				m.file = f
			case 2:
				_, err := m.file.WriteString(m.old + theirLine)
				must(t, errors.Join(err, m.file.Close()))
			}
		}},
		{name: "deletes it", do: once(func(t *testing.T, p string) { _ = os.Remove(p) })},
		{name: "puts a folder there", replaces: true, foreign: true, do: once(func(t *testing.T, p string) {
			_ = os.Remove(p)
			must(t, os.MkdirAll(filepath.Join(p, "inside"), 0o755))
		})},
		{name: "puts a link there", replaces: true, foreign: true, do: once(func(t *testing.T, p string) {
			_ = os.Remove(p)
			must(t, os.Symlink("elsewhere.md", p))
		})},
	}
}

func TestOutsiderAtEachInstant(t *testing.T) {
	for _, sc := range scenarios() {
		_, ops := sc.rehearse(t)
		outsiderMeets(t, sc, ops, systems[0].missing)
	}
}

// TestOutsiderWithoutExchange does it where files cannot be exchanged.
func TestOutsiderWithoutExchange(t *testing.T) {
	for _, sc := range scenarios() {
		_, ops := sc.rehearse(t, systems[1].missing...)
		outsiderMeets(t, sc, ops, systems[1].missing)
	}
}

func outsiderMeets(t *testing.T, sc scenario, ops *counter, missing []string) {
	for _, target := range []string{"MEMORY.md", "one.md"} {
		for i, out := range outsiders() {
			if strings.HasPrefix(sc.name, "append") || sc.name == "the first memory" && target == "one.md" {
				continue // they do not touch these
			}
			t.Run(fmt.Sprintf("%s/%s/%s", sc.name, target, out.name), func(t *testing.T) {
				t.Parallel()
				stage := sc.stages(t)
				// One after another meets the instants in turn, so that each is met by some.
				step := stride(2) * (1 + len(missing)/2)
				for k := 1 + i%step; k <= ops.n; k += step {
					if missing != nil && out.replaces && strings.HasPrefix(ops.ops[k-1], "rename "+tempPrefix) {
						continue // the one moment at which such a system keeps nothing
					}
					st := stage()
					out.meets(t, st, sc, target, k, "another program at "+ops.op(k), missing)
				}
			})
		}
	}
}

// meets lets an outsider act on a file from the k-th operation of a change on,
// and checks that nothing is lost.
func (out outsider) meets(t *testing.T, st *stage, sc scenario, target string, k int, what string, missing []string) {
	t.Helper()
	p := filepath.Join(st.dir, target)
	turn, m := -1, &memo{}
	c := &counter{}
	busy := false
	c.all = func(op, name string) error {
		if _, err := os.Stat(st.dir); err != nil {
			return nil // nothing to write to yet
		}
		if c.n >= k && !busy {
			busy = true
			turn++
			out.do(t, p, turn, m)
			busy = false
		}
		return without(missing...)(op, name)
	}
	s := st.open(t, c)
	r, err := sc.act(t, s)
	if turn < 0 {
		return
	}
	for turn < 3 {
		turn++
		out.do(t, p, turn, m)
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

// TestOutsiderWithoutRest lets another program write a stale copy at each of our
// tries: in the end theirs stands, ours is refused, and no text is lost.
func TestOutsiderWithoutRest(t *testing.T) {
	sc := scenarios()[1] // creates a topic and its entry
	st := sc.stage(t)
	n := 0
	line := func(n int) string { return fmt.Sprintf("- [rude %d](rude-%d.md)\n", n, n) }
	c := &counter{}
	c.all = func(op, name string) error {
		if op == "exchange" && name == "MEMORY.md" && n < maxRaces+1 {
			n++
			return os.WriteFile(filepath.Join(st.dir, name), []byte(st.before[name]+line(n)), 0o644)
		}
		return nil
	}
	_, err := sc.act(t, st.open(t, c))
	if err == nil || !strings.Contains(err.Error(), "again and again") {
		t.Fatalf("err = %v", err)
	}
	files := tree(t, st.dir)
	if files["MEMORY.md"] != st.before["MEMORY.md"]+line(n) && files["MEMORY.md"] != st.before["MEMORY.md"]+line(n-1) {
		t.Errorf("after %d writes the index is %q", n, files["MEMORY.md"])
	}
	if _, there := files["sub/new.md"]; there {
		t.Error("the topic stays, and its entry does not")
	}
	s := st.open(t, nil)
	for i := 1; i <= n; i++ {
		if !found(t, s, line(i)) {
			t.Errorf("%q is nowhere", line(i))
		}
	}
	onlyOurs(t, s)
}

// TestOutsiderTakesOursAlong writes again from what we had just written: our part
// is there then, and nothing is left to do.
func TestOutsiderTakesOursAlong(t *testing.T) {
	sc := scenarios()[1]
	st := sc.stage(t)
	c := &counter{}
	n, wrote := 0, 0
	c.all = func(op, name string) error {
		if n++; (op == "exchange" || op == "read") && name == "MEMORY.md" && n > 10 && wrote < 3 {
			wrote++
			b, err := os.ReadFile(filepath.Join(st.dir, name))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(st.dir, name), append(b, fmt.Sprintf("- [rude %d](rude-%d.md)\n", n, n)...), 0o644)
		}
		return nil
	}
	r, err := sc.act(t, st.open(t, c))
	if err != nil {
		t.Fatal(err)
	}
	index := tree(t, st.dir)["MEMORY.md"]
	for l := range strings.Lines(st.before["MEMORY.md"] + "- [new](sub/new.md) — about new\n") {
		if !strings.Contains(index, l) {
			t.Errorf("the index lacks %q:\n%s", l, index)
		}
	}
	if strings.Count(index, "rude-") != 3 || r.Files[1].After != index {
		t.Errorf("index:\n%s\nresult:\n%s", index, r.Files[1].After)
	}
	s := st.open(t, nil)
	if v := view(t, s); len(v.Losses) > 0 {
		t.Errorf("losses %v", v.Losses)
	}
	onlyOurs(t, s)
}
