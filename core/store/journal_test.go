package store

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mem/core/memdir"
)

// threeChanges makes a directory with three memories, and gives its journal's
// only segment.
func threeChanges(t *testing.T) (st *stage, segment string) {
	t.Helper()
	st = scenario{setup: func(t *testing.T, s *Store) {
		for _, name := range []string{"one", "two", "three"} {
			write(t, s, memory(name, "text of "+name))
		}
	}}.stage(t)
	files, err := filepath.Glob(filepath.Join(st.state, "*", "journal", "*"+segmentExt))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return st, files[0]
}

// records gives where each record of a segment starts, and where the last ends.
func records(t *testing.T, s *Store) (starts []int64, end int64) {
	t.Helper()
	if err := s.journal.refresh(); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.journal.all() {
		starts = append(starts, r.at.header)
		end = r.at.payload + int64(r.Payload) + 1
	}
	return starts, end
}

func titles(t *testing.T, s *Store) []string {
	t.Helper()
	events, _, err := s.History("", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range slices.Backward(events) {
		out = append(out, e.Title)
		if _, err := s.Event(e.ID); err != nil {
			out[len(out)-1] += " (damaged)"
		}
	}
	return out
}

// TestTornTail cuts the journal within its last record, or fills the rest of it
// with what a failing power supply leaves: all before it stays readable, nothing
// is done twice, and the next change is recorded.
func TestTornTail(t *testing.T) {
	st, segment := threeChanges(t)
	whole, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	starts, end := records(t, st.open(t, nil))
	fill := map[string]func(b []byte, at int64) []byte{
		"cut":   func(b []byte, at int64) []byte { return b[:at] },
		"zeros": func(b []byte, at int64) []byte { return append(b[:at], make([]byte, end-at)...) },
		"noise": func(b []byte, at int64) []byte {
			return append(b[:at], bytes.Repeat([]byte("\x9f{\"\n"), int(end-at))[:end-at]...)
		},
	}
	for name, f := range fill {
		t.Run(name, func(t *testing.T) {
			for at := starts[2]; at < end-1; at++ {
				st.reset(t, segment)
				if err := os.WriteFile(segment, f(bytes.Clone(whole), at), 0o600); err != nil {
					t.Fatal(err)
				}
				s := st.open(t, nil)
				if v := view(t, s); len(v.Losses) > 0 || !maps.Equal(tree(t, st.dir), st.before) {
					t.Fatalf("from byte %d: losses %v, files\n%s", at, v.Losses, show(tree(t, st.dir)))
				}
				c := memdir.Log(memdir.LogNote{Body: "next"}, stamp)
				if _, err := s.Apply(t.Context(), c, How{}); err != nil {
					t.Fatalf("from byte %d: %v", at, err)
				}
				got := titles(t, st.open(t, nil))
				got = slices.DeleteFunc(got, func(s string) bool { return s == "write three.md (damaged)" })
				if want := []string{"write one.md", "write two.md", "log: note"}; !slices.Equal(got, want) {
					t.Fatalf("from byte %d: history %q, want %q", at, got, want)
				}
			}
		})
	}
}

// reset puts memory and journal back to how the setup left them, but for the
// segment.
func (st *stage) reset(t *testing.T, segment string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(st.dir, "logs")); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(filepath.Dir(segment), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p != segment {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestDamageInTheMiddle(t *testing.T) {
	tests := []struct {
		name string
		at   func(header, payload int64) int64 // where a byte is flipped in the second record
		want []string
	}{
		{"header", func(h, _ int64) int64 { return h + 1 }, []string{"write one.md", "write three.md", "log: note"}},
		{"end of the header", func(_, p int64) int64 { return p - 1 }, []string{"write one.md", "write three.md", "log: note"}},
		{"payload", func(_, p int64) int64 { return p + 5 }, []string{"write one.md", "write two.md (damaged)", "write three.md", "log: note"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st, segment := threeChanges(t)
			s := st.open(t, nil)
			records(t, s)
			r := s.journal.all()[1]
			b, err := os.ReadFile(segment)
			if err != nil {
				t.Fatal(err)
			}
			b[tt.at(r.at.header, r.at.payload)] ^= 0x55
			if err := os.WriteFile(segment, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s = st.open(t, nil)
			if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{}); err != nil {
				t.Fatal(err)
			}
			other := st.open(t, nil)
			if got := titles(t, other); !slices.Equal(got, tt.want) {
				t.Errorf("history %q, want %q", got, tt.want)
			}
			if got := titles(t, s); !slices.Equal(got, tt.want) {
				t.Errorf("history of the process that met it: %q, want %q", got, tt.want)
			}
			notes := view(t, other).Notes
			told := len(notes) > 0 && strings.Contains(notes[0], "damaged")
			if damagedHeader := tt.name != "payload"; told != damagedHeader {
				t.Errorf("notes %q", notes)
			}
			// What is damaged cannot be undone and says so; the others can.
			for _, e := range []string{"write three.md", "write one.md"} {
				events, _, _ := other.History("", "", 100)
				i := slices.IndexFunc(events, func(x Event) bool { return x.Title == e })
				if _, err := other.Undo(t.Context(), events[i].ID, How{}); err != nil {
					t.Errorf("undo of %s: %v", e, err)
				}
			}
		})
	}
}

func TestUndoOfADamagedRecord(t *testing.T) {
	st, segment := threeChanges(t)
	s := st.open(t, nil)
	records(t, s)
	r := s.journal.last()
	b, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	b[r.at.payload]++
	if err := os.WriteFile(segment, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Undo(t.Context(), r.ID, How{})
	if err == nil || !strings.Contains(err.Error(), "damaged") || !maps.Equal(tree(t, st.dir), st.before) {
		t.Errorf("undo: %v", err)
	}
}

// small makes a store whose segments hold about one change.
func small(t *testing.T, st *stage, edit ...func(*Options)) *Store {
	t.Helper()
	s := reopen(t, st.dir, st.state, edit...)
	s.journal.segmentSize = 500
	return s
}

func segments(t *testing.T, s *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.StateDirectory(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestRotationAndTrim(t *testing.T) {
	base := fastDir(t)
	st := &stage{dir: filepath.Join(base, "memory"), state: filepath.Join(base, "state")}
	now := stamp.Now
	clock := func(o *Options) { o.Now = func() time.Time { return now } }
	s := small(t, st, clock)
	reader := small(t, st, clock)
	for i := range 10 {
		write(t, s, memory(fmt.Sprintf("n%d", i), strings.Repeat("x", 600)))
		now = now.Add(time.Hour)
		if got := titles(t, reader); len(got) != i+1 {
			t.Fatalf("after %d writes another process sees %q", i+1, got)
		}
	}
	if n := len(segments(t, s)); n != 10 {
		t.Fatalf("%d segments, want one for each change", n)
	}
	// By age: what is older than four hours goes.
	s = small(t, st, clock, func(o *Options) { o.JournalAge = 4*time.Hour + time.Minute })
	write(t, s, memory("late", "x"))
	if got := titles(t, s); len(got) != 5 || got[4] != "write late.md" {
		t.Errorf("after trimming by age: %q", got)
	}
	if got := titles(t, reader); len(got) != 5 {
		t.Errorf("another process sees %q", got)
	}
	// By size: the newest stays, however large it is.
	s = small(t, st, clock, func(o *Options) { o.JournalSize = 1 })
	r := write(t, s, memory("large", strings.Repeat("x", 5000)))
	if got := titles(t, s); !slices.Equal(got, []string{"write large.md"}) {
		t.Errorf("after trimming by size: %q", got)
	}
	if _, err := s.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Errorf("undo of the newest: %v", err)
	}
}

func TestTrimKeepsWhatIsNotDone(t *testing.T) {
	base := fastDir(t)
	st := &stage{dir: filepath.Join(base, "memory"), state: filepath.Join(base, "state")}
	s := small(t, st, func(o *Options) { o.JournalSize = 1 })
	write(t, s, memory("one", strings.Repeat("x", 600)))
	if err := s.journal.append(Record{ID: idAfter(s.journal.lastID()), Time: stamp.Now}, []step{newStep("x.md", "", false, strings.Repeat("y", 600), true)}); err != nil {
		t.Fatal(err)
	}
	if err := s.journal.append(Record{ID: idAfter(s.journal.lastID()), Time: stamp.Now}, []step{newStep("z.md", "", false, "z", true)}); err != nil {
		t.Fatal(err)
	}
	if err := s.journal.trim(stamp.Now.Add(1000*time.Hour), time.Hour, 1); err != nil {
		t.Fatal(err)
	}
	if n := len(s.journal.unmarked()); n != 2 || len(segments(t, s)) != 2 {
		t.Errorf("%d changes that are not done, in %q", n, segments(t, s))
	}
}

func TestIDsIncreaseWhateverTheClockDoes(t *testing.T) {
	base := fastDir(t)
	st := &stage{dir: filepath.Join(base, "memory"), state: filepath.Join(base, "state")}
	now := stamp.Now
	var last string
	for i, step := range []time.Duration{0, -time.Hour, time.Millisecond, -24 * time.Hour, 48 * time.Hour, -time.Nanosecond, 0} {
		now = now.Add(step)
		s := small(t, st, func(o *Options) { o.Now = func() time.Time { return now } })
		r := write(t, s, memory(fmt.Sprintf("n%d", i), "x"))
		if r.ID <= last {
			t.Errorf("id %s after %s", r.ID, last)
		}
		last = r.ID
		if got := titles(t, small(t, st)); len(got) != i+1 {
			t.Errorf("history %q after %d writes", got, i+1)
		}
	}
}

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
