package stdio

import (
	"errors"
	"sync"
)

// readers takes turns at the input. Whoever has read a request passes the input on and runs the request itself, so that
// a call does not wait until another thread has woken up: only the next one that reads does, beside it.
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
	holding := true
	defer func() {
		if holding { // a handler on the reader ended the goroutine
			r.end(errReaderEnded)
		}
	}()
	for {
		call, err := r.conn.read(r.in)
		if call == nil {
			holding = false
			r.end(err)
			return
		}
		holding = false
		select {
		case r.baton <- struct{}{}:
		default:
			go r.run()
		}
		r.conn.pool.serveHere(call)
		select {
		case <-r.baton:
			holding = true
		case <-r.done:
			return
		}
	}
}

func (r *readers) end(err error) {
	r.once.Do(func() {
		r.err = err
		close(r.done)
	})
}
