package store

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crashAt makes the change and dies before its k-th operation.
func (st *stage) crashAt(t *testing.T, sc scenario, k int, missing ...string) {
	t.Helper()
	c := &counter{at: map[int]func() error{k: crash}, all: without(missing...)}
	s := st.open(t, c)
	if !surviving(func() { _, _ = sc.act(t, s) }) {
		t.Fatalf("it did not crash at %d; operations: %v", k, c.ops)
	}
}

func TestCrashAtEachInstant(t *testing.T) {
	for _, sc := range scenarios() {
		for _, sys := range systems {
			t.Run(sc.name+" by "+sys.name, func(t *testing.T) {
				t.Parallel()
				after, ops := sc.rehearse(t, sys.missing...)
				stage := sc.stages(t)
				for k := 1; k <= ops.n; k++ {
					st := stage()
					st.crashAt(t, sc, k, sys.missing...)
					st.checkEither(t, after, "crash before "+ops.op(k))
				}
			})
		}
	}
}

// stride spreads a long test over fewer instants; make soak looks at each.
func stride(n int) int {
	switch {
	case os.Getenv("MEM_KILLS") != "":
		return 1
	case testing.Short():
		return 2*n + 1
	}
	return n
}

func TestCrashInRecovery(t *testing.T) {
	for _, sc := range scenarios() {
		for i, sys := range systems {
			t.Run(sc.name+" by "+sys.name, func(t *testing.T) {
				t.Parallel()
				after, ops := sc.rehearse(t, sys.missing...)
				stage := sc.stages(t)
				for k := 1 + i; k <= ops.n; k += stride(3) * (1 + 2*i) {
					for m := 1; ; m++ {
						st := stage()
						st.crashAt(t, sc, k, sys.missing...)
						c := &counter{at: map[int]func() error{m: crash}, all: without(sys.missing...)}
						s := st.open(t, c)
						if !surviving(func() { _, _ = s.View(t.Context()) }) {
							break // the recovery takes fewer operations
						}
						st.checkEither(t, after, fmt.Sprintf("crash before %s, then before %s of the recovery", ops.op(k), c.op(m)))
					}
				}
			})
		}
	}
}

// TestCrashThenUndo takes each change back that a crash left to the recovery.
func TestCrashThenUndo(t *testing.T) {
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			_, ops := sc.rehearse(t)
			stage := sc.stages(t)
			for k := 1; k <= ops.n; k += stride(3) {
				st := stage()
				st.crashAt(t, sc, k)
				s := st.open(t, nil)
				view(t, s)
				if maps.Equal(tree(t, st.dir), st.before) {
					continue
				}
				events, _, err := s.History("", "", 1)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Undo(t.Context(), events[0].ID, How{}); err != nil {
					t.Fatalf("crash before %s, then undo: %v", ops.op(k), err)
				}
				if events[0].Files[0].Kind == "append" {
					continue // logs only grow
				}
				got := tree(t, st.dir)
				if len(st.before) == 0 && got["MEMORY.md"] == "" {
					delete(got, "MEMORY.md")
				}
				if !maps.Equal(got, st.before) {
					t.Errorf("crash before %s, then undo:\n%s", ops.op(k), show(got))
				}
			}
		})
	}
}

// TestCrashThenOutsider lets another program write after a crash and before the
// recovery: its text stays, and where it is another part the change is whole.
func TestCrashThenOutsider(t *testing.T) {
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			after, ops := sc.rehearse(t)
			stage := sc.stages(t)
			for k := 1; k <= ops.n; k += stride(2) {
				for _, target := range []string{"MEMORY.md", "one.md", "two.md"} {
					st := stage()
					st.crashAt(t, sc, k)
					p := filepath.Join(st.dir, target)
					b, err := os.ReadFile(p)
					if err != nil {
						continue
					}
					added := theirLine
					if target != "MEMORY.md" {
						added = "\n## Theirs\n\ntheir text\n"
					}
					if err := os.WriteFile(p, append(b, added...), 0o644); err != nil {
						t.Fatal(err)
					}
					s := st.open(t, nil)
					view(t, s)
					got := tree(t, st.dir)
					what := "crash before " + ops.op(k) + ", then an edit of " + target
					if !strings.Contains(got[target], added) {
						t.Errorf("%s: it is gone:\n%s", what, show(got))
					}
					onlyOurs(t, s)
					if _, stays := after[target]; !stays {
						continue // a deletion meets a change: theirs stands
					}
					got[target] = strings.Replace(got[target], added, "", 1)
					if !maps.Equal(got, st.before) && !maps.Equal(got, after) {
						t.Errorf("%s: the change was made by half:\n%s", what, show(got))
					}
				}
			}
		})
	}
}

// TestOutsiderThenCrash lets another program write at an instant and us die at
// a later one, among them between a swap and the look at what it displaced.
func TestOutsiderThenCrash(t *testing.T) {
	for _, sc := range scenarios() {
		for _, target := range []string{"MEMORY.md", "one.md"} {
			for _, out := range outsiders()[:3] {
				t.Run(fmt.Sprintf("%s/%s/%s", sc.name, target, out.name), func(t *testing.T) {
					t.Parallel()
					_, ops := sc.rehearse(t)
					stage := sc.stages(t)
					for k := 1; k <= ops.n; k += stride(3) {
						for later := 1 + k%stride(4); later <= 8; later += stride(4) {
							st := stage()
							c := &counter{at: map[int]func() error{k + later: crash}}
							wrote := false
							c.at[k] = func() error {
								if _, err := os.Stat(filepath.Join(st.dir, target)); err == nil {
									out.do(t, filepath.Join(st.dir, target), 0, nil)
									wrote = true
								}
								return nil
							}
							s := st.open(t, c)
							if !surviving(func() { _, _ = sc.act(t, s) }) || !wrote {
								continue
							}
							s = st.open(t, nil)
							view(t, s)
							what := fmt.Sprintf("another program at %s, crash before %s", ops.op(k), c.op(k+later))
							if !found(t, s, out.keeps) {
								t.Errorf("%s: what it wrote is nowhere:\n%s", what, show(tree(t, st.dir)))
							}
							onlyOurs(t, s)
							if v := view(t, st.open(t, nil)); len(v.Notes) > 0 {
								t.Errorf("%s: a second recovery has something to do: %v", what, v.Notes)
							}
						}
					}
				})
			}
		}
	}
}
