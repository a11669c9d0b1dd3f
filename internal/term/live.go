package term

import (
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// Live shows on a terminal what something does of which nobody knows the end, on one line
// that goes away with stop, which has to be called. Into a pipe nothing is shown, and say
// is nil.
func (p Printer) Live() (say func(what string), stop func()) {
	if !p.ErrTerminal {
		return nil, func() {}
	}
	b := &bar{p: p, begun: time.Now()}
	return b.say, b.stop
}

// maxLive is how long the line may be, in characters: it must not wrap.
const maxLive = 60

func (b *bar) say(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || time.Since(b.begun) < quietFor {
		return
	}
	if r := []rune(Clean(what)); len(r) > maxLive {
		what = string(r[:maxLive-1]) + "…"
	} else {
		what = string(r)
	}
	if b.writer == nil {
		b.show()
	}
	if b.tracker == nil {
		b.tracker = &progress.Tracker{Message: what, Units: progress.UnitsDefault, RemoveOnCompletion: true}
		b.writer.AppendTracker(b.tracker)
	}
	b.tracker.UpdateMessage(what)
}
