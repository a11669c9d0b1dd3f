package term

import (
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// quietFor is how long something runs before a bar shows how far it is.
	quietFor = 500 * time.Millisecond
	// barWidth is that of the bar, in columns.
	barWidth = 24
	// indicatorSpeed is how long what moves where nothing is counted stays in one place.
	indicatorSpeed = 100 * time.Millisecond
)

// Progress shows on a terminal how far something is that takes longer than half a
// second: what it does, and of how many bytes. What was told by then it shows at once; as long as nothing
// was, it says what is done in the words of doing. The bar goes away with stop, which
// has to be called. Into a pipe nothing is shown, and tell is nil.
func (p Printer) Progress(doing string) (tell func(what string, done, total int64), stop func()) {
	if !p.ErrTerminal {
		return nil, func() {}
	}
	b := &bar{p: p, begun: time.Now()}
	b.late = time.AfterFunc(quietFor, func() { b.catchUp(doing) })
	return b.tell, b.stop
}

// bar is the progress of one command.
type bar struct {
	p     Printer
	begun time.Time
	late  *time.Timer // nil where only what is told shows

	mu      sync.Mutex
	writer  progress.Writer // nil until it shows
	shown   chan struct{}   // closed when nothing is drawn any more
	tracker *progress.Tracker
	what    string
	counted bool // the tracker has a total
	over    bool

	early struct { // what was told last before it shows
		what        string
		done, total int64
	}
}

// catchUp shows what nobody tells any more, or nobody told yet.
func (b *bar) catchUp(doing string) {
	b.mu.Lock()
	e, nothing := b.early, b.tracker == nil && !b.over
	if nothing && e.total <= 0 {
		b.begin(doing, 0)
	}
	b.mu.Unlock()
	if nothing && e.total > 0 {
		b.tell(e.what, e.done, e.total)
	}
}

// begin has the bar say what is done now.
func (b *bar) begin(what string, total int64) {
	if b.writer == nil {
		b.show()
	}
	if b.tracker != nil {
		b.tracker.MarkAsDone()
	}
	b.what = what
	units := progress.UnitsBytes
	if total == 0 { // nothing is counted but the time
		units.Formatter = func(int64) string { return time.Since(b.begun).Round(100 * time.Millisecond).String() }
	}
	b.tracker = &progress.Tracker{Message: Clean(what), Total: total, Units: units, RemoveOnCompletion: true}
	b.writer.AppendTracker(b.tracker)
}

func (b *bar) tell(what string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || total <= 0 {
		return
	}
	if time.Since(b.begun) < quietFor {
		b.early.what, b.early.done, b.early.total = what, done, total
		return
	}
	if what != b.what || !b.counted {
		b.counted = true
		b.begin(what, total)
	}
	// At its total a tracker counts as done, and what is told may still grow.
	b.tracker.UpdateTotal(max(total, done+1))
	b.tracker.SetValue(done)
}

func (b *bar) show() {
	w := progress.NewWriter()
	w.SetOutputWriter(b.p.Err)
	w.SetAutoStop(false)
	w.SetTrackerPosition(progress.PositionRight)
	w.SetTrackerLength(barWidth)
	w.SetUpdateFrequency(100 * time.Millisecond)
	style := progress.StyleDefault
	// The library's own has a state that all bars of a process share.
	style.Chars.Indeterminate = progress.IndeterminateIndicatorMovingBackAndForth("<#>", indicatorSpeed)
	if b.p.Colour {
		style.Colors.Tracker, style.Colors.Stats = text.Colors(Green), text.Colors(Faint)
	}
	style.Visibility = progress.StyleVisibility{ETA: true, Percentage: true, Tracker: true, Value: true}
	w.SetStyle(style)
	b.writer, b.shown = w, make(chan struct{})
	go func() {
		defer close(b.shown)
		w.Render()
	}()
}

func (b *bar) stop() {
	if b.late != nil {
		b.late.Stop()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.writer == nil {
		return
	}
	if b.tracker != nil {
		b.tracker.MarkAsDone()
	}
	for { // a stop before the first frame is drawn would be lost
		b.writer.Stop()
		select {
		case <-b.shown:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
