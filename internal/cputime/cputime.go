// Package cputime measures work by the time that processors spend on it: other programs
// of the machine make a test wait, but not work more.
package cputime

import (
	"testing"
	"time"
)

// Of gives the processor time that f takes. Nothing else of this process may run meanwhile:
// a test that measures is not parallel.
func Of(t testing.TB, f func()) time.Duration {
	t.Helper()
	began := now(t)
	f()
	return now(t) - began
}

func now(t testing.TB) time.Duration {
	t.Helper()
	used, err := Used()
	if err != nil {
		t.Fatalf("the processor time of this process: %v", err)
	}
	return used
}

// Linear fails a test whose work grows faster than what it works on: few and many give the
// processor time of one run over a little and over more. They run in turn, at most rounds times, and
// the least of each counts: a cache that others emptied makes a run slower, nothing makes it
// faster. Less than most times the time of few is linear.
func Linear(t testing.TB, rounds int, most float64, few, many func() time.Duration) {
	t.Helper()
	var quick, slow time.Duration
	for round := range rounds {
		a, b := few(), many()
		if round == 0 {
			quick, slow = a, b
		}
		quick, slow = min(quick, a), min(slow, b)
		if ratio := float64(slow) / float64(max(quick, 1)); ratio < most {
			t.Logf("%v and %v: %.1f times as long, round %d", quick, slow, ratio, round+1)
			return
		}
	}
	t.Errorf("%v and %v of processor time: %.1f times as long, want less than %.0f", quick, slow, float64(slow)/float64(max(quick, 1)), most)
}
