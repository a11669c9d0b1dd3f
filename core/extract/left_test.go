package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/job"
	"mem/core/model/modeltest"
	"mem/core/transcript"
)

// A job that was left for a host is over when another run has looked at its session; that
// of another session waits on.
func TestWhatWasLeftForAHost(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("Nothing to keep."))
	d := newDesk(t, s, "")
	path := d.say("one", "hello", "hello")
	var ids []string
	for _, session := range []string{"one", "two"} {
		r, err := Queue(d.house, Waiting{Session: session, Transcript: path}, transcript.UUID{}, "hook", "nobody thinks")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	if r := d.turn("one", path); r.State != job.Done {
		t.Fatalf("%+v", r)
	}
	if r := d.get(ids[0]); r.State != job.Done || r.Ended.IsZero() || !strings.Contains(r.Reason, "another run") {
		t.Errorf("%+v", r)
	}
	if r := d.get(ids[1]); r.State != job.Queued {
		t.Errorf("%+v", r)
	}
}

// What processes left that were killed while they wrote is removed, and nothing newer.
func TestSweep(t *testing.T) {
	d := newDesk(t, modeltest.Start(t), "")
	st := stateOf(d.m.StateDirectory())
	if err := st.wait(Waiting{Session: "one", Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(st.dir, waiting)
	now := time.Now()
	for name, age := range map[string]time.Duration{".1.tmp": 2 * time.Hour, ".2.tmp": time.Minute} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.sweep(now); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(append(left, hidden...), " ")
	if !strings.Contains(all, "one.json") || !strings.Contains(all, ".2.tmp") || strings.Contains(all, ".1.tmp") {
		t.Errorf("left: %s", all)
	}
}
