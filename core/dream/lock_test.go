package dream

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mem/internal/need"
)

// bed is a memory directory with a clock and processes that the test decides.
type bed struct {
	*Lock
	t     *testing.T
	clock time.Time
	lives map[int]string // pid → start
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, clock: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), lives: map[int]string{100: "s100"}}
	b.Lock = &Lock{Directory: t.TempDir(), State: filepath.Join(t.TempDir(), "state"), PID: 100,
		Now:   func() time.Time { return b.clock },
		Alive: func(pid int, start string) bool { s, ok := b.lives[pid]; return ok && (start == "" || s == start) },
		Start: func(pid int) string { return b.lives[pid] },
	}
	return b
}

func (b *bed) path() string { return filepath.Join(b.Directory, LockName) }

func (b *bed) put(content string, at time.Time) {
	b.t.Helper()
	if err := errors.Join(os.WriteFile(b.path(), []byte(content), 0o600), os.Chtimes(b.path(), at, at)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) file() (content string, at time.Time) {
	b.t.Helper()
	data, err := os.ReadFile(b.path())
	if errors.Is(err, os.ErrNotExist) {
		return "absent", time.Time{}
	}
	info, err2 := os.Stat(b.path())
	if err = errors.Join(err, err2); err != nil {
		b.t.Fatal(err)
	}
	return string(data), info.ModTime().UTC()
}

func (b *bed) take() *Held {
	b.t.Helper()
	h, err := b.Take("job", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

func (b *bed) want(content string, at time.Time) {
	b.t.Helper()
	if c, m := b.file(); c != content || !m.Equal(at) {
		b.t.Errorf("the lock file holds %q and has the time %v; want %q and %v", c, m, content, at)
	}
}

func TestLockAsTheSeedHasIt(t *testing.T) {
	b := newBed(t)
	h := b.take()
	b.want("100", b.clock)
	b.clock = b.clock.Add(10 * time.Minute)
	if err := h.Done(); err != nil {
		t.Fatal(err)
	}
	began := b.clock.Add(-10 * time.Minute)
	b.want("", began)

	b.clock = b.clock.Add(30 * time.Hour)
	h = b.take()
	if !h.Last.Equal(began) {
		t.Errorf("last success %v, want %v", h.Last, began)
	}
	b.want("100", b.clock)
	if err := h.Rollback(); err != nil {
		t.Fatal(err)
	}
	b.want("", began)
}

func TestRollbackRemovesWhatWasNotThere(t *testing.T) {
	b := newBed(t)
	if err := b.take().Rollback(); err != nil {
		t.Fatal(err)
	}
	b.want("absent", time.Time{})
}

func TestHolders(t *testing.T) {
	for _, c := range []struct {
		name, content string
		age           time.Duration
		busy          bool
	}{
		{"a client that lives", "200", 59 * time.Minute, true},
		{"a client with a newline", "200\n", time.Minute, true},
		{"left for an hour", "200", 61 * time.Minute, false},
		{"a dead client", "300", time.Minute, false},
		{"emptied", "", time.Minute, false},
		{"no number", "nonsense", time.Minute, false},
		{"a huge number", strings.Repeat("9", 60), time.Minute, false},
		{"negative", "-5", time.Minute, false},
		{"our own number, of a dead process", "100", time.Minute, false},
		{"a client whose clock is ahead", "200", -30 * time.Minute, true},
		{"a time far ahead", "200", -26 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			b.lives[200] = "s200"
			at := b.clock.Add(-c.age)
			b.put(c.content, at)
			st, err := b.Standing()
			if err != nil || (st.Holder != 0) != c.busy {
				t.Errorf("it stands %+v, %v", st, err)
			}
			h, err := b.Take("job", nil)
			var busy *BusyError
			if errors.As(err, &busy) != c.busy || !c.busy && err != nil {
				t.Fatalf("taking gives %v", err)
			}
			if c.busy {
				if busy.PID != 200 || !strings.Contains(err.Error(), "process 200") {
					t.Errorf("the error says %v", err)
				}
				b.want(c.content, at)
				return
			}
			if err := h.Rollback(); err != nil {
				t.Fatal(err)
			}
			b.want("", at)
		})
	}
}

// TestCrash is a run of ours whose process died: its time is no success, nor is the
// number that another process got meanwhile.
func TestCrash(t *testing.T) {
	for _, reused := range []bool{false, true} {
		b := newBed(t)
		before := b.clock.Add(-48 * time.Hour)
		b.put("", before)
		h := b.take()
		if err := h.close(); err != nil { // as the system does for a dead process
			t.Fatal(err)
		}
		b.PID = 101
		b.lives = map[int]string{101: "s101"}
		if reused {
			b.lives[100] = "somebody else"
		}
		b.clock = b.clock.Add(5 * time.Minute)
		st, err := b.Standing()
		if err != nil || st.Holder != 0 || !st.Last.Equal(before) || !st.Crashed {
			t.Errorf("reused %t: it stands %+v, %v", reused, st, err)
		}
		h = b.take()
		if !h.Last.Equal(before) || len(h.Notes) != 1 {
			t.Errorf("reused %t: %v %q", reused, h.Last, h.Notes)
		}
		if err := h.Rollback(); err != nil {
			t.Fatal(err)
		}
		b.want("", before)
	}
}

// TestClientDreamsAfterOurCrash: its time counts, ours does not come back.
func TestClientDreamsAfterOurCrash(t *testing.T) {
	b := newBed(t)
	b.put("", b.clock.Add(-48*time.Hour))
	if err := b.take().close(); err != nil {
		t.Fatal(err)
	}
	b.lives = map[int]string{101: "s101"}
	b.PID = 101
	client := b.clock.Add(10 * time.Minute)
	b.put("777", client)
	b.clock = b.clock.Add(2 * time.Hour)
	if st, err := b.Standing(); err != nil || !st.Last.Equal(client) || st.Crashed {
		t.Errorf("it stands %+v, %v", st, err)
	}
	h := b.take()
	if err := h.Rollback(); err != nil || !h.Last.Equal(client) {
		t.Errorf("%v, %v", h.Last, err)
	}
	b.want("", client)
}

// TestSecondMtimes: a file system that keeps whole seconds, or two.
func TestSecondMtimes(t *testing.T) {
	b := newBed(t)
	b.clock = b.clock.Add(1999 * time.Millisecond)
	before := b.clock.Add(-48 * time.Hour).Truncate(2 * time.Second)
	b.put("", before)
	if err := b.take().close(); err != nil {
		t.Fatal(err)
	}
	at := b.clock.Truncate(2 * time.Second)
	if err := os.Chtimes(b.path(), at, at); err != nil {
		t.Fatal(err)
	}
	b.PID, b.lives = 101, map[int]string{}
	if st, err := b.Standing(); err != nil || !st.Last.Equal(before) {
		t.Errorf("it stands %+v, %v", st, err)
	}
}

func TestLockFileThatIsNone(t *testing.T) {
	b := newBed(t)
	if err := os.Mkdir(b.path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Take("job", nil); err == nil || !strings.Contains(err.Error(), "Remove it") {
		t.Errorf("a folder: %v", err)
	}
	if err := os.Remove(b.path()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	need.Link(t, outside, b.path())
	if _, err := b.Take("job", nil); err == nil || !strings.Contains(err.Error(), "Remove it") {
		t.Errorf("a link: %v", err)
	}
	if _, err := b.Standing(); err == nil {
		t.Error("a link stands")
	}
	if data, _ := os.ReadFile(outside); string(data) != "keep" {
		t.Errorf("outside has %q", data)
	}
}

func TestNoMemoryDirectory(t *testing.T) {
	b := newBed(t)
	b.Directory = filepath.Join(b.Directory, "none")
	if _, err := b.Take("job", nil); err == nil || !strings.Contains(err.Error(), "nothing to consolidate") {
		t.Error(err)
	}
	if st, err := b.Standing(); err != nil || !st.Last.IsZero() {
		t.Errorf("%+v %v", st, err)
	}
}

// TestRemovedDuringTheRun: the success is kept all the same, and another's lock is left alone.
func TestRemovedDuringTheRun(t *testing.T) {
	b := newBed(t)
	h := b.take()
	if err := os.Remove(b.path()); err != nil {
		t.Fatal(err)
	}
	if err := h.Done(); err != nil {
		t.Fatal(err)
	}
	b.want("", b.clock)

	h = b.take()
	if err := os.Remove(b.path()); err != nil {
		t.Fatal(err)
	}
	b.put("200", b.clock)
	if err := h.Rollback(); err != nil {
		t.Fatal(err)
	}
	b.want("200", b.clock)
}

func TestDamagedRecord(t *testing.T) {
	b := newBed(t)
	if err := errors.Join(os.MkdirAll(b.State, 0o700), os.WriteFile(filepath.Join(b.State, recordName), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	b.put("", b.clock)
	for _, try := range []func() error{
		func() error { _, err := b.Standing(); return err },
		func() error { _, err := b.Take("job", nil); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), recordName) || !strings.Contains(err.Error(), "Remove it") {
			t.Errorf("%v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.State, recordName), []byte(`{"v":`+strconv.Itoa(recordVersion+1)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Take("job", nil); err == nil || !strings.Contains(err.Error(), "later version") {
		t.Error(err)
	}
	b.want("", b.clock)
}

// TestReplacedBeforeItIsLocked: the file that was opened is not the lock file any more when
// it is locked; that of another run counts.
func TestReplacedBeforeItIsLocked(t *testing.T) {
	b := newBed(t)
	b.put("", b.clock.Add(-48*time.Hour))
	other := *b.Lock
	var held *Held
	b.instant = func(at string) {
		if at != "open: opened" || held != nil {
			return
		}
		if err := os.Remove(b.path()); err != nil {
			t.Fatal(err)
		}
		var err error
		if held, err = other.Take("other", nil); err != nil {
			t.Fatal(err)
		}
	}
	h, err := b.Take("job", nil)
	var busy *BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("two runs at once: %+v, %v", h, err)
	}
	if err := held.Done(); err != nil {
		t.Fatal(err)
	}
	b.want("", b.clock)
}
