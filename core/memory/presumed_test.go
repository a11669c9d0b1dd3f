package memory

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/memdir"
)

// tree gives what files hold, and what folders there are.
func (w *world) tree() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == w.dir {
			return err
		}
		rel, err := filepath.Rel(w.dir, p)
		if err != nil || e.IsDir() {
			all[rel+"/"] = ""
			return err
		}
		b, err := os.ReadFile(p)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestPresumed: whatever another program does between two writes of one process, the second one
// ends as that of a process which looks at everything first.
func TestPresumed(t *testing.T) {
	const second = "four" // as long as "zero", which is not looked at again
	for name, x := range map[string]struct {
		wrong   bool // what is presumed; the index and what was just written are looked at again
		another func(w *world)
	}{
		"nothing":               {false, func(*world) {}},
		"a log":                 {false, func(w *world) { w.put("logs/2026/11/2026-11-30.md", "x\n") }},
		"the file":              {true, func(w *world) { w.put(second+".md", "theirs\n") }},
		"a folder of that name": {true, func(w *world) { w.put(second+".md/x.md", "theirs\n") }},
		"a topic of that name":  {true, func(w *world) { w.put("sub/x.md", "---\nname: "+second+"\ntype: user\n---\n\ntheirs\n") }},
		"the name, in place":    {true, func(w *world) { w.put("zero.md", strings.Replace(w.get("zero.md"), "name: zero", "name: "+second, 1)) }},
		"the index":             {false, func(w *world) { w.put("MEMORY.md", "# Theirs\n\n- [x](x.md) — x\n") }},
		"no index": {false, func(w *world) {
			if err := os.Remove(filepath.Join(w.dir, "MEMORY.md")); err != nil {
				w.t.Fatal(err)
			}
		}},
		"a folder as index": {false, func(w *world) {
			if err := os.Remove(filepath.Join(w.dir, "MEMORY.md")); err != nil {
				w.t.Fatal(err)
			}
			w.put("MEMORY.md/x.md", "x\n")
		}},
		"no directory": {false, func(w *world) {
			if err := os.RemoveAll(w.dir); err != nil {
				w.t.Fatal(err)
			}
		}},
		"another directory": {false, func(w *world) {
			if err := os.Rename(w.dir, w.dir+".old"); err != nil {
				w.t.Fatal(err)
			}
			w.put("first.md", "another\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			end := func(presumes bool) (all map[string]string, told *Written, failed string, changes int) {
				w := newWorld(t)
				w.vars["MEM_SESSION_ID"] = "session-1"
				m := w.open()
				must(m.Write(t.Context(), note("zero", "0")))(t)
				must(m.Write(t.Context(), note("first", "1")))(t)
				x.another(w)
				if !presumes {
					m = w.open()
				}
				told, err := m.Write(t.Context(), note(second, "2"))
				if err != nil {
					failed = strings.ReplaceAll(err.Error(), w.dir, "DIR")
				} else {
					told.Directory, told.ID = "", ""
					for i, n := range told.Notes {
						told.Notes[i] = strings.ReplaceAll(n, filepath.Dir(w.dir), "HOME")
					}
					for i := range told.Vanished {
						told.Vanished[i].ID = ""
					}
				}
				if was := !m.recent.wrong.IsZero(); presumes && was != x.wrong {
					t.Errorf("the presumption was wrong: %v", was)
				}
				h := must(w.open().History(t.Context(), HistoryOptions{}))(t)
				return w.tree(), told, failed, len(h.Changes)
			}
			all, told, failed, changes := end(true)
			allOf, toldOf, failedOf, changesOf := end(false)
			if d := cmp.Diff(allOf, all); d != "" {
				t.Errorf("the files (-of a look +presumed):\n%s", d)
			}
			if d := cmp.Diff(toldOf, told, cmp.AllowUnexported(Change{}, Notice{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".all" }, cmp.Ignore())); d != "" {
				t.Errorf("the result (-of a look +presumed):\n%s", d)
			}
			if failed != failedOf || changes != changesOf {
				t.Errorf("%q and %d changes, of a look %q and %d", failed, changes, failedOf, changesOf)
			}
		})
	}
}

// TestPresumesNothingForAWhile: where others write, too, each presumption would be in vain.
func TestPresumesNothingForAWhile(t *testing.T) {
	w := newWorld(t)
	m := w.open()
	must(m.Write(t.Context(), note("zero", "0")))(t) // which makes the directory
	must(m.Write(t.Context(), note("a", "a")))(t)
	if _, ok := m.recent.presume(t.Context()); !ok {
		t.Fatal("a write of its own is no reason to look at all files")
	}
	w.put("x.md", "theirs\n")
	must(m.Write(t.Context(), note("b", "b")))(t)
	must(m.Write(t.Context(), note("c", "c")))(t)
	if _, ok := m.recent.presume(t.Context()); ok {
		t.Error("it presumes again at once")
	}
	m.recent.wrong = m.recent.wrong.Add(-2 * time.Second)
	if _, ok := m.recent.presume(t.Context()); !ok {
		t.Error("it never presumes again")
	}
	for i := range maxTouched {
		must(m.Edit(t.Context(), Edit{Topic: "a.md", EditOf: memdir.EditOf{Key: "note", Value: fmt.Sprint(i)}}))(t)
	}
	if _, ok := m.recent.presume(t.Context()); ok {
		t.Error("after so many changes a whole look takes no longer")
	}
}

// TestPresumedAfterItsOwnChanges: whatever a process does to the memory itself, it knows.
func TestPresumedAfterItsOwnChanges(t *testing.T) {
	w := newWorld(t)
	m := w.open()
	must(m.Write(t.Context(), note("zero", "0")))(t)
	must(m.Write(t.Context(), note("first", "1")))(t)
	for i := range 20 {
		name := fmt.Sprint("n", i)
		id := must(m.Write(t.Context(), note(name, "x")))(t).ID
		switch i % 4 {
		case 0:
			must(m.Undo(t.Context(), id))(t)
		case 1:
			must(m.Edit(t.Context(), Edit{Topic: name + ".md", EditOf: memdir.EditOf{Key: "description", Value: "Other."}}))(t)
		case 2:
			must(m.Move(t.Context(), name, "m"+name+".md"))(t)
		case 3:
			must(m.Delete(t.Context(), name, ""))(t)
		}
		v, ok := m.recent.presume(t.Context())
		now, _, err := w.open().Look(t.Context())
		if err != nil || !ok || !now.Same(v) {
			t.Fatalf("after step %d: presumed %v", i, ok)
		}
	}
	if !m.recent.wrong.IsZero() {
		t.Error("a presumption was wrong")
	}
}
