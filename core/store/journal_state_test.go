package store

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mem/core/memdir"
)

func TestSegmentRemoved(t *testing.T) {
	base := fastDir(t)
	st := &stage{dir: filepath.Join(base, "memory"), state: filepath.Join(base, "state")}
	s, reader := small(t, st), small(t, st)
	for i := range 4 {
		write(t, s, memory(fmt.Sprintf("n%d", i), strings.Repeat("x", 600)))
	}
	titles(t, reader)
	names := segments(t, s)
	for _, gone := range []int{1, 3} {
		if err := os.Remove(filepath.Join(s.StateDirectory(), "journal", names[gone])); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"write n0.md", "write n2.md"}
	for name, s := range map[string]*Store{"fresh": small(t, st), "writer": s, "reader": reader} {
		if got := titles(t, s); !slices.Equal(got, want) {
			t.Errorf("%s: history %q, want %q", name, got, want)
		}
	}
	if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{}); err != nil {
		t.Error(err)
	}
	if _, err := s.Undo(t.Context(), strings.TrimSuffix(names[0], segmentExt), How{}); err != nil {
		t.Error(err)
	}
}

func TestLaterVersionOfTheJournal(t *testing.T) {
	st, segment := threeChanges(t)
	f, err := os.OpenFile(segment, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":2,"id":"zzzzzzzzzzzzz","what":"nobody knows"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := st.open(t, nil)
	_, err = s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{})
	if err == nil || !strings.Contains(err.Error(), "later version") || !strings.Contains(err.Error(), s.StateDirectory()) {
		t.Errorf("apply: %v", err)
	}
	if v := view(t, s); len(v.Topics) != 3 || len(v.Notes) != 1 {
		t.Errorf("view: %d topics, notes %q", len(v.Topics), v.Notes)
	}
	if got := tree(t, st.dir); !maps.Equal(got, st.before) {
		t.Errorf("files:\n%s", show(got))
	}
}

// TestReadersMeetAnAppend lets other processes read while a record is written.
func TestReadersMeetAnAppend(t *testing.T) {
	st, _ := threeChanges(t)
	readers := []*Store{st.open(t, nil), st.open(t, nil)}
	titles(t, readers[0]) // one that knows what was there before
	c := &counter{}
	c.all = func(op, name string) error {
		for _, r := range readers {
			if got := titles(t, r); len(got) < 3 || len(got) > 4 {
				t.Errorf("at %s %s a reader sees %q", op, name, got)
			}
		}
		return nil
	}
	if _, err := st.open(t, c).Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		if got := titles(t, r); len(got) != 4 {
			t.Errorf("afterwards a reader sees %q", got)
		}
	}
}

// TestReadersMeetACut lets others read a record that a full disk makes us cut
// off again: what is recorded after it is not taken for a part of it.
func TestReadersMeetACut(t *testing.T) {
	st, _ := threeChanges(t)
	reader := st.open(t, nil)
	c := &counter{}
	c.all = func(op, name string) error {
		if op == "open" && strings.HasPrefix(name, tempPrefix) {
			titles(t, reader)
			c.all = func(op, _ string) error {
				if takesRoom(op) {
					return syscall.ENOSPC
				}
				return nil
			}
			return syscall.ENOSPC
		}
		return nil
	}
	s := st.open(t, c)
	v := view(t, s)
	change, err := v.Create("four.md", memory("four", "text"), stamp)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), change, How{}); err == nil {
		t.Fatal("the disk was full, and yet it was written")
	}
	c.all = nil
	if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: strings.Repeat("next ", 400)}, stamp), How{}); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Store{"reader": reader, "writer": s, "fresh": st.open(t, nil)} {
		view(t, r)
		if got, want := titles(t, r), []string{"write one.md", "write two.md", "write three.md", "log: note"}; !slices.Equal(got, want) {
			t.Errorf("%s: history %q, want %q", name, got, want)
		}
	}
	if got := tree(t, st.dir); got["four.md"] != "" {
		t.Errorf("files:\n%s", show(got))
	}
}

func TestStateDirectoryOfNoUse(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, state string)
	}{
		{"a file", func(t *testing.T, state string) {
			if err := os.RemoveAll(state); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(state, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"its journal is a file", func(t *testing.T, state string) {
			dirs, _ := filepath.Glob(filepath.Join(state, "*", "journal"))
			if err := os.RemoveAll(dirs[0]); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dirs[0], nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"a segment is a folder", func(t *testing.T, state string) {
			files, _ := filepath.Glob(filepath.Join(state, "*", "journal", "*"))
			if err := os.Remove(files[0]); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(files[0], 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st, _ := threeChanges(t)
			tt.spoil(t, st.state)
			s := st.open(t, nil)
			_, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{})
			if err == nil || !strings.Contains(err.Error(), "Nothing was changed") || !strings.Contains(err.Error(), st.state) {
				t.Errorf("apply: %v", err)
			}
			if got := tree(t, st.dir); !maps.Equal(got, st.before) {
				t.Errorf("files:\n%s", show(got))
			}
			v, err := s.View(t.Context())
			if err != nil || len(v.Topics) != 3 || len(v.Notes) != 1 || !strings.Contains(v.Notes[0], st.state) {
				t.Errorf("view: %v, notes %q", err, v.Notes)
			}
		})
	}
}

func TestStateDirectoryBeforeMemoryDirectory(t *testing.T) {
	base := fastDir(t)
	if err := os.WriteFile(filepath.Join(base, "state"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, filepath.Join(base, "memory"), filepath.Join(base, "state"))
	if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{}); err == nil {
		t.Error("it was written")
	}
	if _, err := os.Stat(s.Directory()); !os.IsNotExist(err) {
		t.Errorf("the memory directory was made: %v", err)
	}
}
