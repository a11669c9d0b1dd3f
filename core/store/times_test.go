package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mem/core/change"
)

// written is when the topics of these tests were written last.
var written = time.Date(2026, 8, 1, 9, 30, 0, 0, time.UTC)

func setTime(t *testing.T, dir, p string) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(dir, p), written, written); err != nil {
		t.Fatal(err)
	}
}

// kept gives a file's time, and reports whether it was kept.
func kept(t *testing.T, dir, p string) (time.Time, bool) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, p))
	if err != nil {
		t.Fatal(err)
	}
	// Not the very same: who compares times is to see a change.
	return info.ModTime(), info.ModTime().After(written) && info.ModTime().Sub(written) < time.Second
}

// TestKeepTimes mends topics, takes that back and makes it again: their times stay.
// What is written otherwise has the time at which it was written.
func TestKeepTimes(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	write(t, s, memory("two", "2"))
	setTime(t, s.Directory(), "one.md")
	setTime(t, s.Directory(), "two.md")
	c := edit(t, s, "one.md", readFile(t, s, "one.md"), "\n1\n", "\nI\n")
	c.Files = append(c.Files, change.File{Path: "new.md", Kind: change.Create, New: "new\n"})
	r, err := s.Apply(t.Context(), c, How{KeepTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := kept(t, s.Directory(), "one.md"); !ok {
		t.Errorf("mended: %v, it was %v", at, written)
	}
	if at, ok := kept(t, s.Directory(), "new.md"); ok || time.Since(at) > time.Minute {
		t.Errorf("created: %v", at)
	}
	if _, ok := kept(t, s.Directory(), "two.md"); ok {
		t.Error("another topic changed")
	}
	for range 2 { // and the undo of the undo
		if r, err = s.Undo(t.Context(), r.ID, How{}); err != nil {
			t.Fatal(err)
		}
		if at, ok := kept(t, s.Directory(), "one.md"); !ok {
			t.Errorf("taken back: %v, it was %v", at, written)
		}
	}
	if v := view(t, s); v.Topic("one.md").ModTime.Sub(written) > time.Second {
		t.Errorf("a view says %v", v.Topic("one.md").ModTime)
	}
	if _, err := s.Apply(t.Context(), edit(t, s, "one.md", readFile(t, s, "one.md"), "\nI\n", "\none\n"), How{}); err != nil {
		t.Fatal(err)
	}
	if at, ok := kept(t, s.Directory(), "one.md"); ok {
		t.Errorf("written: %v", at)
	}
}

// TestKeepTimesInRace: a topic that another program wrote at the same moment was
// touched.
func TestKeepTimesInRace(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "## A\n\na\n\n## B\n\nb"))
	setTime(t, s.Directory(), "one.md")
	base := readFile(t, s, "one.md")
	raced := false
	s.instant = func(op, name string) error {
		if op == "exchange" && !raced {
			raced = true
			return os.WriteFile(filepath.Join(s.Directory(), "one.md"), []byte(base+"\ntheirs\n"), 0o600)
		}
		return nil
	}
	if _, err := s.Apply(t.Context(), edit(t, s, "one.md", base, "\na\n", "\nA\n"), How{KeepTimes: true}); err != nil {
		t.Fatal(err)
	}
	if at, ok := kept(t, s.Directory(), "one.md"); ok || !raced {
		t.Errorf("raced %v: %v", raced, at)
	}
}

// TestKeepTimesInCrash dies before each operation; whoever completes the change
// keeps the time as well.
func TestKeepTimesInCrash(t *testing.T) {
	sc := scenario{"mend", func(t *testing.T, s *Store) {
		write(t, s, memory("one", "1"))
	}, func(t *testing.T, s *Store) (*Result, error) {
		return s.Apply(t.Context(), edit(t, s, "one.md", readFile(t, s, "one.md"), "\n1\n", "\nI\n"), How{KeepTimes: true})
	}}
	for _, sys := range systems {
		t.Run(sys.name, func(t *testing.T) {
			after, ops := sc.rehearse(t, sys.missing...)
			for k := 1; k <= ops.n; k++ {
				st := sc.stage(t)
				setTime(t, st.dir, "one.md")
				st.crashAt(t, sc, k, sys.missing...)
				s := st.open(t, nil)
				view(t, s)
				if got := tree(t, st.dir)["one.md"]; got != after["one.md"] {
					continue // it was not begun
				}
				if at, ok := kept(t, st.dir, "one.md"); !ok {
					t.Errorf("crash before %s: %v, it was %v", ops.op(k), at, written)
				}
			}
		})
	}
}
