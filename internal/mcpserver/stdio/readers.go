package stdio

import (
	"errors"
	"sync"
	"time"
)

// readers takes turns at the input. Whoever has read a request runs it, too, so that a call does not wait until another
// thread has woken up. The input stays with it for as long as a short call takes: to wake the next reader for nothing
// costs more than most calls. It passes the input on where more has come already, and once the call takes longer.
type readers struct {
	conn  *conn
	in    *lines
	baton chan struct{} // passed on with the input; nobody receives while all are at work
	done  chan struct{} // closed at the end of the input
	err   error         // why it ended
	once  sync.Once
}

// errReaderEnded is the end of a reader whose notification handler ended its goroutine.
var errReaderEnded = errors.New("the reader ended early: a notification handler ended its goroutine")

// run reads and serves until the input ends. It starts with the input in hand.
func (r *readers) run() {
	holding, serving := true, false
	relief := time.AfterFunc(time.Hour, r.passOn)
	relief.Stop()
	defer func() {
		switch { // a handler ended the goroutine
		case serving && relief.Stop():
			r.passOn()
		case holding:
			r.end(errReaderEnded)
		}
	}()
	for {
		call, err := r.conn.read(r.in)
		holding = false
		if call == nil {
			r.end(err)
			return
		}
		if r.in.more() {
			r.passOn()
		} else {
			relief.Reset(reliefAfter)
		}
		serving = true
		r.conn.pool.serveHere(call)
		serving = false
		if holding = relief.Stop(); holding {
			continue
		}
		select {
		case <-r.baton:
			holding = true
		case <-r.done:
			return
		}
	}
}

// passOn gives the input to a reader that waits for it, or to a new one.
func (r *readers) passOn() {
	select {
	case r.baton <- struct{}{}:
	default:
		go r.run()
	}
}

func (r *readers) end(err error) {
	r.once.Do(func() {
		r.err = err
		close(r.done)
	})
}
