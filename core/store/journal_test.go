package store

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	t.Parallel()
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

// A segment that holds not one record is told, unless a crash alone explains it.
func TestSegmentThatIsNone(t *testing.T) {
	for _, tt := range []struct {
		name, holds string
		told        bool
	}{
		{"garbage", "this was a journal once, and somebody wrote a letter over it\n", true},
		{"torn record", `{"v":1,"id":"2026`, false},
		{"zeros", strings.Repeat("\x00", 4096), false},
		{"empty", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st, segment := threeChanges(t)
			if err := os.WriteFile(segment, []byte(tt.holds), 0o600); err != nil {
				t.Fatal(err)
			}
			s := st.open(t, nil)
			if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{}); err != nil {
				t.Fatal(err)
			}
			other := st.open(t, nil)
			if got := titles(t, other); !slices.Equal(got, []string{"log: note"}) {
				t.Errorf("history %q", got)
			}
			notes := strings.Join(view(t, other).Notes, "\n")
			if strings.Contains(notes, "damaged") != tt.told {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// A segment that holds nothing readable does not take the older ones along when the
// journal is trimmed.
func TestTrimKeepsWhatStandsBeforeGarbage(t *testing.T) {
	st, segment := threeChanges(t)
	garbage := filepath.Join(filepath.Dir(segment), strings.TrimSuffix(filepath.Base(segment), segmentExt)+"0"+segmentExt)
	if err := os.WriteFile(garbage, []byte("a letter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := st.open(t, nil)
	if _, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Body: "next"}, stamp), How{}); err != nil {
		t.Fatal(err)
	}
	if got, want := titles(t, st.open(t, nil)), []string{"write one.md", "write two.md", "write three.md", "log: note"}; !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
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
