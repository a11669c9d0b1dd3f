package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// after gives an instant that does one thing after another, each at the next
// operation of a kind on a file whose name ends in suffix.
func after(op, suffix string, do ...func()) func(op, name string) error {
	return func(o, name string) error {
		if o == op && strings.HasSuffix(name, suffix) && len(do) > 0 {
			next := do[0]
			do = do[1:]
			next()
		}
		return nil
	}
}

// caught makes the edit of a topic, with an outside write right before the swap
// and a crash right behind it: the outside text is under a temporary name alone.
func caught(t *testing.T, theirs func(before string) string) (sc scenario, st *stage, text string) {
	t.Helper()
	sc = scenarios()[2] // edits one.md
	st = sc.stage(t)
	p := filepath.Join(st.dir, "one.md")
	text = theirs(st.before["one.md"])
	c := &counter{}
	swapped := false
	c.all = func(op, name string) error {
		if swapped {
			panic(crashed{})
		}
		if op == "exchange" {
			swapped = true
			return os.WriteFile(p, []byte(text), 0o644)
		}
		return nil
	}
	s := st.open(t, c)
	if !surviving(func() { _, _ = sc.act(t, s) }) {
		t.Fatal("it did not crash")
	}
	return sc, st, text
}

func addC(before string) string { return before + "\n## C\n\ntheir text\n" }

// TestRecoveryMergesWhatASwapDisplaced crashes again at each instant of it.
func TestRecoveryMergesWhatASwapDisplaced(t *testing.T) {
	for m := 1; ; m++ {
		_, st, _ := caught(t, addC)
		c := &counter{at: map[int]func() error{m: crash}}
		s := st.open(t, c)
		died := surviving(func() { _, _ = s.View(t.Context()) })
		s = st.open(t, nil)
		view(t, s)
		got := readFile(t, s, "one.md")
		if !strings.Contains(got, "A!") || !strings.Contains(got, "their text") && !found(t, s, "their text") {
			t.Errorf("crash before %s of the recovery: %q", c.op(m), got)
		}
		if !died && !strings.Contains(got, "their text") {
			t.Errorf("it was not merged: %q", got)
		}
		onlyOurs(t, s)
		if !died {
			return
		}
	}
}

// TestRecoveryGivesBackWhatIsInConflict lets theirs stand, as the live write
// would have done.
func TestRecoveryGivesBackWhatIsInConflict(t *testing.T) {
	_, st, theirs := caught(t, func(before string) string { return strings.Replace(before, "\na\n", "\ntheirs\n", 1) })
	s := st.open(t, nil)
	v := view(t, s)
	if got := readFile(t, s, "one.md"); got != theirs {
		t.Errorf("one.md %q, want %q; notes %q", got, theirs, v.Notes)
	}
	onlyOurs(t, s)
}

// TestRecoveryMeetsALaterWrite keeps what a swap displaced where a third text
// stands in the file by now.
func TestRecoveryMeetsALaterWrite(t *testing.T) {
	_, st, theirs := caught(t, addC)
	s := st.open(t, nil)
	overwrite(t, s, "one.md", "another text altogether\n")
	view(t, s)
	if got := readFile(t, s, "one.md"); got != "another text altogether\n" {
		t.Errorf("one.md %q", got)
	}
	if !found(t, s, theirs) {
		t.Error("what was displaced is nowhere")
	}
	onlyOurs(t, s)
}

// TestRecoveryPutsBackWhatWasAside crashes when a deletion has moved a file aside
// that somebody had just changed: it gets its name back.
func TestRecoveryPutsBackWhatWasAside(t *testing.T) {
	sc := scenarios()[3] // deletes one.md
	st := sc.stage(t)
	theirs := addC(st.before["one.md"])
	c := &counter{}
	c.all = after("rename", "one.md", func() {
		if err := os.WriteFile(filepath.Join(st.dir, "one.md"), []byte(theirs), 0o644); err != nil {
			t.Fatal(err)
		}
		c.all = func(string, string) error { panic(crashed{}) }
	})
	s := st.open(t, c)
	if !surviving(func() { _, _ = sc.act(t, s) }) {
		t.Fatal("it did not crash")
	}
	s = st.open(t, nil)
	view(t, s)
	if got := tree(t, st.dir)["one.md"]; got != theirs {
		t.Errorf("one.md %q, want %q", got, theirs)
	}
	onlyOurs(t, s)
}

// TestGivingBackMeetsAWrite lets another program write in conflict with us, and
// once more while its text is given back: the newest stands, the other is kept.
func TestGivingBackMeetsAWrite(t *testing.T) {
	sc := scenarios()[2] // edits one.md
	st := sc.stage(t)
	text := func(n int) string {
		return strings.Replace(st.before["one.md"], "\na\n", fmt.Sprintf("\ntheirs %d\n", n), 1)
	}
	put := func(n int) func() {
		return func() {
			if err := os.WriteFile(filepath.Join(st.dir, "one.md"), []byte(text(n)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := &counter{all: after("exchange", "one.md", put(1), put(2))}
	if _, err := sc.act(t, st.open(t, c)); err == nil {
		t.Fatal("it was written")
	}
	s := st.open(t, nil)
	if got := readFile(t, s, "one.md"); got != text(2) {
		t.Errorf("one.md %q", got)
	}
	if !found(t, s, "theirs 1") {
		t.Error("the text that was given back and replaced is nowhere")
	}
	onlyOurs(t, s)
}

// TestLockIsOnTheNewDirectory replaces the directory after it was opened and
// before it is locked: the write goes to the new one.
func TestLockIsOnTheNewDirectory(t *testing.T) {
	sc := scenarios()[0] // the first memory
	st := sc.stage(t)
	if err := os.Mkdir(st.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	c.all = after("lock", "", func() {
		if err := os.Rename(st.dir, st.dir+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(st.dir, 0o755); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := sc.act(t, st.open(t, c)); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, st.dir); len(got) != 2 || len(tree(t, st.dir+".old")) != 0 {
		t.Errorf("files:\n%s", show(got))
	}
}

// TestLossOfTheSameSizeAndTime is seen where the file was new at the last look.
func TestLossOfTheSameSizeAndTime(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	index := readFile(t, s, "MEMORY.md")
	p := filepath.Join(s.Directory(), "MEMORY.md")
	overwrite(t, s, "MEMORY.md", index)
	info, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	if v := view(t, s); len(v.Losses) > 0 {
		t.Fatal(v.Losses)
	}
	overwrite(t, s, "MEMORY.md", strings.ReplaceAll(index, "one", "two"))
	if err := os.Chtimes(p, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if l := view(t, s).Losses; !slices.Equal(paths(l), []string{"one.md"}) {
		t.Errorf("losses %v", l)
	}
}

// TestLateWriteToWhatWasDisplaced comes from a program that had the old file open
// all along: its text has no name any more, and is kept.
func TestLateWriteToWhatWasDisplaced(t *testing.T) {
	t.Parallel()
	sc := scenarios()[2] // edits one.md
	st := sc.stage(t)
	f, err := os.OpenFile(filepath.Join(st.dir, "one.md"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := &counter{all: after("sync folder", "", func() {
		if _, err := f.WriteString("written late\n"); err != nil {
			t.Fatal(err)
		}
	})}
	s := st.open(t, c)
	r, err := sc.act(t, s)
	if err != nil {
		// The system tells that it is open: nothing is written beside it.
		if !strings.Contains(err.Error(), "another program has one.md open") || readFile(t, s, "one.md") != st.before["one.md"] {
			t.Errorf("%v; one.md %q", err, readFile(t, s, "one.md"))
		}
		return
	}
	if !found(t, s, "written late") || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "one.md") {
		t.Errorf("notes %q", r.Notes)
	}
	onlyOurs(t, s)
}
