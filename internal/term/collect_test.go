package term

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func percent() int {
	p := debug.SetGCPercent(usualPercent)
	debug.SetGCPercent(p)
	return p
}

// The first collection comes late, and after it the runtime is as it was.
func TestCollectLate(t *testing.T) {
	was := percent()
	defer debug.SetGCPercent(was)
	debug.SetGCPercent(usualPercent)
	CollectLate()
	if p := percent(); p != firstPercent && p != usualPercent { // a collection may have come at once
		t.Errorf("the percentage is %d", p)
	}
	for limit := time.Now().Add(10 * time.Second); percent() != usualPercent; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("after a collection the percentage is %d", percent())
		}
		runtime.GC()
	}
	debug.SetGCPercent(50) // as GOGC says it
	CollectLate()
	runtime.GC()
	if p := percent(); p != 50 {
		t.Errorf("the percentage that GOGC gave became %d", p)
	}
}
