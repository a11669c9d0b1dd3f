package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/core/store"
)

const (
	// maxTouched bounds how many files are looked at again for a presumption: of more, a whole
	// look takes about as long.
	maxTouched = 16
	// trustAgain is how long after a wrong presumption none is made: somebody else writes
	// to the memory, too.
	trustAgain = time.Second
)

// recent is the newest whole look at the memory, and what this process has changed since.
type recent struct {
	mu      sync.Mutex
	view    *memdir.View // nil where none is at hand
	touched []string
	wrong   time.Time // when a presumption was last found wrong
}

func (r *recent) get() *memdir.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

func (r *recent) set(v *memdir.View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view, r.touched = v, nil
}

// changed notes what a change of this process touched.
func (r *recent) changed(files []store.FileResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range files {
		if f.Action != "unchanged" && !slices.Contains(r.touched, f.Path) {
			r.touched = append(r.touched, f.Path)
		}
	}
	if len(r.touched) > maxTouched {
		r.view, r.touched = nil, nil
	}
}

// presume gives the memory as it is if nobody else wrote to it since the last whole look.
// ok is false where there is no reason to think so.
func (r *recent) presume(ctx context.Context) (v *memdir.View, ok bool) {
	r.mu.Lock()
	last, touched, wrong := r.view, r.touched, r.wrong
	r.mu.Unlock()
	if last == nil || time.Since(wrong) < trustAgain {
		return nil, false
	}
	return last.Presumed(ctx, touched)
}

// start is what a write starts from. To look at all files takes as long as the disk does:
// where it may, a write starts from what it presumes them to be, and the look that tells
// whether they are is awaited when the texts are on disk and nobody sees them yet.
type start struct {
	*store.Reading
	notice Notice
	// sure waits for that look. It gives errPresumed where the memory is another, and nil
	// where the write started from a whole look.
	sure func() error
}

// errPresumed is what a write gives that started from a wrong presumption. It is made again,
// so that nobody sees it.
var errPresumed = errors.New("the memory is not what it was presumed to be")

// start gives what a write starts from.
func (m *Memory) start(ctx context.Context) (start, error) {
	v, ok := m.recent.presume(ctx)
	if !ok {
		return m.startSure(ctx)
	}
	losses, notes := m.store.Check(ctx)
	fresh := make(chan *memdir.View, 1)
	go func() {
		defer close(fresh)
		defer func() { _ = recover() }() // the whole look that follows reports a breakdown
		if now, err := m.store.Read(ctx); err == nil {
			fresh <- now
		}
	}()
	sure := sync.OnceValue(func() error {
		now := <-fresh
		if now == nil || !now.Same(v) {
			m.recent.mu.Lock()
			defer m.recent.mu.Unlock()
			m.recent.view, m.recent.wrong = nil, time.Now()
			return errPresumed
		}
		m.recent.set(now)
		return nil
	})
	return start{&store.Reading{View: v, Exists: true, Losses: losses, Notes: notes}, m.notice(losses, notes), sure}, nil
}

// startSure gives a whole look to start from.
func (m *Memory) startSure(ctx context.Context) (start, error) {
	v, n, err := m.view(ctx)
	return start{v, n, func() error { return nil }}, err
}
