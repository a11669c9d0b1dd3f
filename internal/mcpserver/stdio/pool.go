package stdio

import (
	"sync"
	"time"
)

// pool runs calls on at most max workers, in the order in which they came, and counts the ones that are not done.
// Workers stay: a grown stack is worth more than a new goroutine.
type pool struct {
	run func(*call)
	max int

	mu      sync.Mutex
	wake    sync.Cond
	waiting []*call
	bytes   int // of the messages that wait
	workers int // that wait or run, readers that run a call included
	idle    int
	open    int // calls that are waiting, running or listening
	listens int
	closed  bool
	empty   chan struct{} // set by whenEmpty, closed when no call is open

	room chan struct{} // holds a token after a call was taken from the waiting ones
}

func newPool(max int, run func(*call)) *pool {
	p := &pool{run: run, max: max, room: make(chan struct{}, 1)}
	p.wake.L = &p.mu
	return p
}

// admission is what became of a submitted call.
type admission int

const (
	admitted  admission = iota
	fullHouse           // too many calls wait
	tooMany             // too many listen streams are open
	closing             // the session ends
)

func (p *pool) submit(c *call) admission {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return closing
	case c.listens():
		// It waits for its cancel, most of the time the whole session long: it may not take a worker.
		if p.listens >= maxListens {
			return tooMany
		}
		p.listens++
		p.open++
		go p.serve(c)
		return admitted
	case len(p.waiting) >= maxWaiting || len(p.waiting) > 0 && p.bytes+len(c.message) > maxWaitingBytes:
		return fullHouse
	}
	p.waiting = append(p.waiting, c)
	p.bytes += len(c.message)
	p.open++
	// An idle worker that was woken for an earlier call still counts as idle until it runs: compare, do not ask
	// whether there is one.
	if len(p.waiting) > p.idle && p.workers < p.max {
		p.workers++
		go p.work()
	} else {
		p.wake.Signal()
	}
	return admitted
}

// waitForRoom waits until a worker takes a call. False: none did for the given time, or stop was closed.
func (p *pool) waitForRoom(patience time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.room:
		return true
	case <-timer.C:
	case <-stop:
	}
	return false
}

func (p *pool) work() {
	// Also reached when a handler ends its goroutine (runtime.Goexit): another one takes over what waits.
	defer p.leave()
	for {
		c := p.next()
		if c == nil {
			return
		}
		p.serve(c)
	}
}

// join admits a call that the caller runs itself, as a worker, with serveHere. It reports false when others wait
// already or nobody more may run.
func (p *pool) join(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.listens() || len(p.waiting) > 0 || p.workers >= p.max+p.idle {
		return false
	}
	p.workers++
	p.open++
	return true
}

// serveHere runs a call that has joined.
func (p *pool) serveHere(c *call) {
	defer p.leave()
	p.serve(c)
}

// leave ends the work of one worker.
func (p *pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers--; len(p.waiting) > 0 && p.workers < p.max {
		p.workers++
		go p.work()
	}
}

func (p *pool) next() *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.waiting) == 0 {
		if p.closed {
			return nil
		}
		p.idle++
		p.wake.Wait()
		p.idle--
	}
	c := p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	p.bytes -= len(c.message)
	select {
	case p.room <- struct{}{}:
	default:
	}
	return c
}

func (p *pool) serve(c *call) {
	defer p.done(c)
	p.run(c)
}

func (p *pool) done(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.listens() {
		p.listens--
	}
	if p.open--; p.open == 0 && p.empty != nil {
		close(p.empty)
		p.empty = nil
	}
}

// close admits no more calls; those admitted still run.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.wake.Broadcast()
}

// whenEmpty, called once after close, returns a channel that is closed when no call is left.
func (p *pool) whenEmpty() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	empty := make(chan struct{})
	if p.open == 0 {
		close(empty)
	} else {
		p.empty = empty
	}
	return empty
}

func (p *pool) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}
