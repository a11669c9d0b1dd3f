package index

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"mem/internal/need"
)

// TestGoals holds what the index promises: 60 MB of raw transcript a second, an update with nothing
// new within 20 ms, a warm search within 30 ms in the median. The promises are for a machine that is
// free, which is measured: where MEM_TRANSCRIPT_MB asks for a large index, as make soak does, they are
// held as they are; otherwise only what is wrong by far fails.
func TestGoals(t *testing.T) {
	slack := 10.0
	if os.Getenv("MEM_TRANSCRIPT_MB") != "" {
		slack = 1
	}
	if raceEnabled {
		slack = 100
	}
	least := func(times int, f func()) time.Duration {
		best := time.Hour
		for range times {
			at := time.Now()
			f()
			best = min(best, time.Since(at))
		}
		return best
	}
	missed, busy := false, taken()
	within := func(what string, took, goal time.Duration) {
		t.Helper()
		t.Logf("%s: %v; the goal is %v", what, took, goal)
		busy = max(busy, taken())
		switch {
		case float64(took) > max(slack, 10)*float64(goal), took > goal && slack == 1 && busy < 0.05:
			t.Errorf("%s takes %v; the goal is %v", what, took, goal)
		case slack == 1 && took > goal:
			missed = true
		}
	}

	sources, bytes := benchSources(t)
	x := open(t, Options{})
	took := least(1, func() { update(t, x, sources...) })
	if slack > 1 { // the first one of a process does what is done once
		again := open(t, Options{})
		took = min(took, least(1, func() { update(t, again, sources...) }))
	}
	within("indexing", took, time.Duration(float64(bytes)/60e6*float64(time.Second)))

	queries := sortsOfQueries(t, x)
	var each []time.Duration
	for i := range 10 * len(queries) {
		at := time.Now()
		search(t, x, queries[i%len(queries)])
		if i >= len(queries) { // warm
			each = append(each, time.Since(at))
		}
	}
	slices.Sort(each)
	within("the median search", each[len(each)/2], 30*time.Millisecond)

	many, cache := thousand(t), t.TempDir()
	first := open(t, Options{Dir: cache})
	update(t, first, many...)
	within("an update with nothing new", least(5, func() {
		y, err := Open(t.Context(), Options{Dir: cache})
		if err != nil {
			t.Fatal(err)
		}
		if r := update(t, y, many...); r.Changed != 0 {
			t.Errorf("%+v", r)
		}
		if err := y.Close(); err != nil {
			t.Fatal(err)
		}
	}), 20*time.Millisecond)
	need.Quiet(t, !missed, fmt.Sprintf("others took %.0f %% of the processors, and a goal is missed", 100*busy))
}

// taken is the part of a short while in which the processors did something else than this process:
// what is missing between two looks at the clock.
func taken() float64 {
	const while = 100 * time.Millisecond
	var gone [2]time.Duration
	var wg sync.WaitGroup
	for i := range gone {
		wg.Go(func() {
			for begun, last := time.Now(), time.Now(); last.Sub(begun) < while; {
				now := time.Now()
				if gap := now.Sub(last); gap > time.Millisecond {
					gone[i] += gap
				}
				last = now
			}
		})
	}
	wg.Wait()
	return float64(gone[0]+gone[1]) / float64(2*while)
}
