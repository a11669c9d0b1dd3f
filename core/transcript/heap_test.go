package transcript

import (
	"runtime/debug"
	"testing"
)

// TestHoldHeap: the percentage of garbage is lower while large transcripts are held, whatever the order
// in which they are let go, and what it was afterwards; one that is lower already, or off, stays.
func TestHoldHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	small, large := &Transcript{Rows: Rows{n: 200_000}}, &Transcript{Rows: Rows{n: 2_000_000}}
	for _, usual := range []int{100, 400, 6, -1} {
		debug.SetGCPercent(usual)
		lower := func(most int) int {
			if usual < 0 {
				return usual
			}
			return min(usual, most)
		}
		check := func(what string, want int) {
			t.Helper()
			if got := percent(); got != want {
				t.Errorf("usually %d, %s: %d, want %d", usual, what, got, want)
			}
		}
		release := small.HoldHeap()
		check("a small transcript", usual)
		release()
		one := large.HoldHeap()
		check("a large one", lower(8)) // 16 MB of 192
		two := large.HoldHeap()
		check("two large ones", lower(4))
		one()
		one()
		check("the other one", lower(8))
		two()
		check("none", usual)
	}
}
