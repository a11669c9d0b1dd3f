package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/memdir"
)

// rest lets a file's modification time grow old enough to be trusted.
func rest() { time.Sleep(fresh + 5*time.Millisecond) }

func paths(losses []Loss) []string {
	var out []string
	for _, l := range losses {
		out = append(out, l.Path)
	}
	slices.Sort(out)
	return out
}

// TestVanish tells what another program does to the files, which losses that is,
// and what the index is when all of them are restored.
func TestVanish(t *testing.T) {
	t.Parallel()
	const one, two, three = "- [one](one.md) — about one\n", "- [two](two.md) — about two\n", "- [three](three.md) — about three\n"
	const all = three + two + one
	remove := func(t *testing.T, s *Store, names ...string) {
		for _, n := range names {
			if err := os.Remove(filepath.Join(s.Directory(), n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := func(t *testing.T, s *Store, do func(v *Reading) error) {
		t.Helper()
		if err := do(view(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name     string
		do       func(t *testing.T, s *Store)
		want     []string
		topics   int    // how many of them lost their file as well
		restored string // the index afterwards; "" where nothing was lost
	}{
		{"nothing", func(*testing.T, *Store) {}, nil, 0, ""},
		{"the index is emptied", func(t *testing.T, s *Store) { overwrite(t, s, "MEMORY.md", "") },
			[]string{"one.md", "three.md", "two.md"}, 0, all},
		{"the index is deleted", func(t *testing.T, s *Store) { remove(t, s, "MEMORY.md") },
			[]string{"one.md", "three.md", "two.md"}, 0, all},
		{"a stale copy is written back", func(t *testing.T, s *Store) { overwrite(t, s, "MEMORY.md", one) },
			[]string{"three.md", "two.md"}, 0, all},
		{"an entry gets another text", func(t *testing.T, s *Store) {
			overwrite(t, s, "MEMORY.md", strings.Replace(all, "[two](two.md) — about two", "[Second](two.md): other words", 1))
		}, nil, 0, ""},
		{"an entry moves to another section", func(t *testing.T, s *Store) {
			overwrite(t, s, "MEMORY.md", three+one+"\n## Old\n\n"+two)
		}, nil, 0, ""},
		{"entries become a table", func(t *testing.T, s *Store) {
			overwrite(t, s, "MEMORY.md", "| a | b |\n|---|---|\n| [one](one.md) | x |\n| [two](two.md) | y |\n| [three](three.md) | z |\n")
		}, nil, 0, ""},
		{"a topic goes too", func(t *testing.T, s *Store) { overwrite(t, s, "MEMORY.md", three+one); remove(t, s, "two.md") },
			[]string{"two.md"}, 1, "- [two](two.md) — about two\n" + three + one},
		{"all is gone", func(t *testing.T, s *Store) { remove(t, s, "MEMORY.md", "one.md", "two.md", "three.md") },
			[]string{"one.md", "three.md", "two.md"}, 3, all},
		{"a topic gets another name", func(t *testing.T, s *Store) {
			if err := os.Rename(filepath.Join(s.Directory(), "two.md"), filepath.Join(s.Directory(), "zwei.md")); err != nil {
				t.Fatal(err)
			}
			overwrite(t, s, "MEMORY.md", strings.Replace(all, "(two.md)", "(zwei.md)", 1))
		}, nil, 0, ""},
		{"we delete", func(t *testing.T, s *Store) {
			ours(t, s, func(v *Reading) error {
				_, err := s.Apply(t.Context(), v.Delete("two.md", readFile(t, s, "two.md")), How{})
				return err
			})
		}, nil, 0, ""},
		{"we move", func(t *testing.T, s *Store) {
			ours(t, s, func(v *Reading) error {
				c, _, err := v.Move(t.Context(), v.Topic("two.md"), "sub/zwei.md")
				if err == nil {
					_, err = s.Apply(t.Context(), c, How{})
				}
				return err
			})
		}, nil, 0, ""},
		{"we undo a write", func(t *testing.T, s *Store) {
			if _, err := s.Undo(t.Context(), s.journal.lastID(), How{}); err != nil {
				t.Fatal(err)
			}
		}, nil, 0, ""},
		{"an entry of theirs goes beside one that we deleted", func(t *testing.T, s *Store) {
			overwrite(t, s, "MEMORY.md", three+two+"- [theirs](theirs.md)\n"+one)
			ours(t, s, func(v *Reading) error {
				_, err := s.Apply(t.Context(), v.Delete("two.md", readFile(t, s, "two.md")), How{})
				return err
			})
			overwrite(t, s, "MEMORY.md", three+one)
		}, nil, 0, ""},
		{"a list with another mark", func(t *testing.T, s *Store) {
			overwrite(t, s, "MEMORY.md", "# Mine\r\n\r\n* [x](x.md)\r\n")
		}, []string{"one.md", "three.md", "two.md"}, 0,
			"# Mine\r\n\r\n* [three](three.md) — about three\r\n* [two](two.md) — about two\r\n* [one](one.md) — about one\r\n* [x](x.md)\r\n"},
	}
	for _, seen := range []string{"view", "apply", "another process", "a write that fails"} {
		for _, tt := range tests {
			t.Run(tt.name+" seen by "+seen, func(t *testing.T) {
				st := scenario{setup: func(t *testing.T, s *Store) {
					for _, n := range []string{"one", "two", "three"} {
						write(t, s, memory(n, "text of "+n))
					}
				}}.stage(t)
				s := st.open(t, nil)
				view(t, s)
				tt.do(t, s)
				rest()
				losses := lookFor(t, st, s, seen)
				if got := paths(losses); !slices.Equal(got, tt.want) {
					t.Fatalf("losses %q, want %q", got, tt.want)
				}
				topics := 0
				for _, l := range losses {
					if l.Topic {
						topics++
					}
					if !strings.Contains(l.String(), l.Path) || !strings.Contains(l.String(), l.ID) {
						t.Errorf("message %q", l)
					}
				}
				if topics != tt.topics {
					t.Errorf("%d topics gone, want %d", topics, tt.topics)
				}
				if again := append(view(t, s).Losses, view(t, st.open(t, nil)).Losses...); len(again) > 0 {
					t.Errorf("reported again: %v", again)
				}
				if len(losses) == 0 {
					return
				}
				if _, err := s.Undo(t.Context(), losses[0].ID, How{}); err != nil {
					t.Fatal(err)
				}
				if got := readFile(t, s, "MEMORY.md"); got != tt.restored {
					t.Errorf("restored index:\n%s\nwant:\n%s", got, tt.restored)
				}
				for _, l := range losses {
					if got := readFile(t, s, l.Path); got != st.before[l.Path] {
						t.Errorf("restored %s: %q", l.Path, got)
					}
				}
				if again := view(t, s).Losses; len(again) > 0 {
					t.Errorf("lost after the restoration: %v", again)
				}
			})
		}
	}
}

// lookFor gives the losses that somebody sees first.
func lookFor(t *testing.T, st *stage, s *Store, seen string) []Loss {
	t.Helper()
	switch seen {
	case "another process":
		return view(t, st.open(t, nil)).Losses
	case "apply":
		r, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Losses
	case "a write that fails":
		c := edit(t, st.open(t, nil), "three.md", st.before["three.md"], "text of three", "other text")
		c.Files[0].Base += "and what was never there"
		c.Files[0].Path = "never.md"
		if _, err := s.Apply(t.Context(), c, How{}); err == nil {
			t.Fatal("it did not fail")
		}
	}
	return view(t, s).Losses
}

func TestTwoLossesOneAfterAnother(t *testing.T) {
	s := open(t)
	for _, n := range []string{"one", "two", "three"} {
		write(t, s, memory(n, n))
	}
	all := readFile(t, s, "MEMORY.md")
	var ids []string
	for _, n := range []string{"two", "one"} {
		now := readFile(t, s, "MEMORY.md")
		overwrite(t, s, "MEMORY.md", strings.Replace(now, "- ["+n+"]("+n+".md) — about "+n+"\n", "", 1))
		rest()
		l := view(t, s).Losses
		if !slices.Equal(paths(l), []string{n + ".md"}) {
			t.Fatalf("losses %v", l)
		}
		ids = append(ids, l[0].ID)
	}
	for _, id := range ids {
		if _, err := s.Undo(t.Context(), id, How{}); err != nil {
			t.Fatal(err)
		}
	}
	for l := range strings.Lines(all) {
		if !strings.Contains(readFile(t, s, "MEMORY.md"), l) {
			t.Errorf("the index lacks %q: %q", l, readFile(t, s, "MEMORY.md"))
		}
	}
	// Lost again after it was restored: told again.
	overwrite(t, s, "MEMORY.md", "# Mine\n")
	rest()
	if l := view(t, s).Losses; len(l) != 3 {
		t.Errorf("losses %v", l)
	}
}

func TestLossAndRecreatedIndex(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	if err := os.Remove(filepath.Join(s.Directory(), "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	l := view(t, s).Losses
	if len(l) != 1 {
		t.Fatalf("losses %v", l)
	}
	overwrite(t, s, "MEMORY.md", "- [theirs](theirs.md)\n")
	if _, err := s.Undo(t.Context(), l[0].ID, How{}); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, s, "MEMORY.md")
	if !strings.Contains(got, "one.md") || !strings.Contains(got, "theirs.md") {
		t.Errorf("index %q", got)
	}
}

// TestLossOfTheVeryLastWrite lets the index be rewritten at the moment at which a
// write of ours ends: the look that follows must not take it for our own.
func TestLossOfTheVeryLastWrite(t *testing.T) {
	st := scenario{setup: func(t *testing.T, s *Store) { write(t, s, memory("one", "1")) }}.stage(t)
	c := &counter{}
	s := st.open(t, c)
	view(t, s)
	change, err := plainView(t, s).Create("two.md", memory("two", "2"), stamp)
	if err != nil {
		t.Fatal(err)
	}
	done := false
	c.all = func(op, name string) error {
		if op == "sync folder" && !done {
			done = true
			overwrite(t, s, "MEMORY.md", st.before["MEMORY.md"])
		}
		return nil
	}
	if _, err := s.Apply(t.Context(), change, How{}); err != nil {
		t.Fatal(err)
	}
	if l := view(t, s).Losses; !slices.Equal(paths(l), []string{"two.md"}) {
		t.Errorf("losses %v", l)
	}
}

// TestLossBetweenLookAndPlan lets a stale copy come after the lock was taken: it
// is merged with, and what it lacks is reported.
func TestLossBetweenLookAndPlan(t *testing.T) {
	sc := scenarios()[1] // creates a topic and its entry
	_, ops := sc.rehearse(t)
	for k := 1; k <= ops.n; k++ {
		st := sc.stage(t)
		c := &counter{}
		s := st.open(t, c)
		c.at = map[int]func() error{k: func() error {
			overwrite(t, s, "MEMORY.md", "- [one](one.md) — about one\n")
			return nil
		}}
		r, err := sc.act(t, s)
		if err != nil {
			t.Fatalf("at %s: %v", ops.op(k), err)
		}
		losses := append(r.Losses, view(t, s).Losses...)
		index := readFile(t, s, "MEMORY.md")
		for _, p := range []string{"two.md", "sub/new.md"} {
			if !strings.Contains(index, p) && !slices.Contains(paths(losses), p) {
				t.Errorf("at %s: %s is neither in the index nor reported: %v\n%s", ops.op(k), p, losses, index)
			}
		}
	}
}

func TestPurgedMeanwhile(t *testing.T) {
	st := scenario{setup: func(t *testing.T, s *Store) {
		write(t, s, memory("one", "1"))
		write(t, s, memory("two", "2"))
	}}.stage(t)
	s, other := st.open(t, nil), st.open(t, nil)
	view(t, s)
	old := s.journal.lastID()
	if _, err := other.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	overwrite(t, s, "MEMORY.md", "")
	rest()
	if v := view(t, s); len(v.Losses) > 0 || len(v.Notes) > 0 {
		t.Errorf("losses %v, notes %v: nothing is known of what was", v.Losses, v.Notes)
	}
	if _, err := s.Undo(t.Context(), old, How{}); err == nil {
		t.Error("undo of what was purged")
	}
	write(t, s, memory("three", "3"))
	if got := titles(t, other); !slices.Equal(got, []string{"write three.md"}) {
		t.Errorf("history %q", got)
	}
}

// TestLossThatCannotBeNoted is told each time, until the history can be written.
func TestLossThatCannotBeNoted(t *testing.T) {
	st := scenario{setup: func(t *testing.T, s *Store) { write(t, s, memory("one", "1")) }}.stage(t)
	c := &counter{}
	s := st.open(t, c)
	overwrite(t, s, "MEMORY.md", "")
	rest()
	c.all = func(op, name string) error {
		if op == "open" {
			return os.ErrPermission
		}
		return nil
	}
	for range 2 {
		v := view(t, s)
		if len(v.Losses) != 1 || v.Losses[0].ID != "" || len(v.Notes) != 1 {
			t.Errorf("losses %v, notes %q", v.Losses, v.Notes)
		}
	}
	c.all = nil
	if v := view(t, s); len(v.Losses) != 1 || v.Losses[0].ID == "" {
		t.Errorf("losses %v", v.Losses)
	}
}
