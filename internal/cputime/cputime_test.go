package cputime

import (
	"testing"
	"time"
)

// TestOf: waiting is no work, and work is.
func TestOf(t *testing.T) {
	if waited := Of(t, func() { time.Sleep(300 * time.Millisecond) }); waited > 150*time.Millisecond {
		t.Errorf("waiting 300 ms takes %v", waited)
	}
	if worked := spin(t, 100*time.Millisecond); worked < 100*time.Millisecond {
		t.Errorf("100 ms of work take %v", worked)
	}
}

// spin works until it took so much processor time, and gives how much that was.
func spin(t *testing.T, long time.Duration) time.Duration {
	return Of(t, func() {
		for began := now(t); now(t)-began < long; {
		}
	})
}

// recorder notes a failure instead of having one.
type recorder struct {
	testing.TB
	failed bool
}

func (*recorder) Helper()                 {}
func (*recorder) Logf(string, ...any)     {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestLinear(t *testing.T) {
	at := func(times ...time.Duration) func() time.Duration {
		return func() time.Duration {
			d := times[0]
			times = append(times[1:], d)
			return d
		}
	}
	for name, c := range map[string]struct {
		few, many func() time.Duration
		failed    bool
	}{
		"linear":                {at(10), at(40), false},
		"quadratic":             {at(10), at(160), true},
		"slowed once":           {at(10, 10), at(160, 40), false},
		"the quick one is lame": {at(30, 10, 10), at(245, 170, 160), true},
		"too quick to tell":     {at(0), at(0), false},
	} {
		r := &recorder{TB: t}
		Linear(r, 3, 8, c.few, c.many)
		if r.failed != c.failed {
			t.Errorf("%s: failed is %v", name, r.failed)
		}
	}
}
