package stdio

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// frame is one line of output, or a marker.
type frame struct {
	line    []byte          // with its newline; empty in a marker
	of      *call           // a frame of a cancelled call is not written
	reached chan<- struct{} // closed when everything queued before has been written
}

// maxSpareFrames is how long a list of frames is kept for reuse: 1,024 of them take 48 KiB.
const maxSpareFrames = 1024

// outbox is the one queue to the one writer. Its order is the order on the wire. A frame that comes to an empty queue
// while the client has read everything is written by whoever brings it: waking the writer would cost more than the
// rest of a short call.
type outbox struct {
	to       io.Writer
	unread   func() (bytes int, ok bool) // what the client has not read; nil where that cannot be known
	room     int                         // what to takes without blocking while that is none, in bytes
	limit    int
	timeout  time.Duration
	watchdog *time.Timer

	mu     sync.Mutex
	work   sync.Cond // the writer waits for frames
	space  sync.Cond // producers wait for the writer
	frames []frame
	bytes  int  // queued and not yet written
	busy   bool // somebody writes
	closed bool
	err    error

	dead    chan struct{} // closed when err is set
	drained chan struct{} // closed when the writer has returned
}

func newOutbox(to io.Writer, limit int, timeout time.Duration) *outbox {
	unread, room := unreadProbe(to)
	o := &outbox{to: to, unread: unread, room: room, limit: limit, timeout: timeout, dead: make(chan struct{}), drained: make(chan struct{})}
	o.work.L, o.space.L = &o.mu, &o.mu
	// Armed around each write only.
	o.watchdog = time.AfterFunc(time.Hour, func() {
		o.fail(fmt.Errorf("%w: nothing was read for %s", ErrStalled, timeout))
		interruptWrite(to)
	})
	o.watchdog.Stop()
	go o.write()
	return o
}

// push queues f and waits while more than the limit is queued. It reports whether f will be written if all goes well.
func (o *outbox) push(f frame) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > o.limit && o.err == nil && !o.closed {
		o.space.Wait()
	}
	return o.add(f)
}

// pushNow queues f without waiting, for the reader: a client that sends and never reads ends the session here.
func (o *outbox) pushNow(f frame) {
	o.mu.Lock()
	full := o.bytes > o.limit+controlReserve
	if !full {
		o.add(f)
	}
	o.mu.Unlock()
	if full {
		o.fail(fmt.Errorf("%w: %d bytes are waiting and it sends more", ErrStalled, o.limit+controlReserve))
	}
}

// add queues f, or writes it where that does not block. The caller holds the lock, which is let go of meanwhile.
func (o *outbox) add(f frame) bool {
	if o.err != nil || o.closed {
		return false
	}
	if o.busy || len(o.frames) > 0 || f.reached != nil || len(f.line) > o.room {
		o.frames = append(o.frames, f)
		o.bytes += len(f.line)
		if len(o.frames) == 1 {
			o.work.Signal()
		}
		return true
	}
	o.busy = true
	o.mu.Unlock()
	written := o.writeNow(f)
	o.mu.Lock()
	o.busy = false
	if !written && o.err == nil {
		o.frames = slices.Insert(o.frames, 0, f) // what came meanwhile stands behind it
		o.bytes += len(f.line)
	}
	if len(o.frames) > 0 || o.closed {
		o.work.Signal()
	}
	return o.err == nil
}

// writeNow writes a frame if that certainly does not block.
func (o *outbox) writeNow(f frame) bool {
	if n, ok := o.unread(); !ok || n > 0 {
		return false
	}
	if f.of != nil && f.of.isCancelled() {
		return true
	}
	if n, err := o.to.Write(f.line); err != nil || n < len(f.line) {
		if err == nil {
			err = io.ErrShortWrite
		}
		o.fail(&writeError{err})
	}
	return true
}

// fail ends the session: producers stop waiting, what is queued is given up.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
		close(o.dead)
		o.work.Broadcast()
		o.space.Broadcast()
	}
}

func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// close lets the writer finish what is queued.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.work.Broadcast()
	o.space.Broadcast()
}

func (o *outbox) write() {
	defer close(o.drained)
	defer o.watchdog.Stop()
	var batch []frame
	buf := make([]byte, 0, 4<<10)
	for {
		if batch = o.take(batch[:0]); len(batch) == 0 {
			return
		}
		// Frames are joined up to a chunk, for one system call instead of many.
		pending := 0
		for i, f := range batch {
			batch[i] = frame{}
			pending += len(f.line)
			if f.of == nil || !f.of.isCancelled() {
				buf = append(buf, f.line...)
			}
			if len(buf) >= writeChunk || f.reached != nil || i == len(batch)-1 {
				if err := o.flush(buf); err != nil {
					o.fail(err)
					return
				}
				o.wrote(pending)
				pending = 0
				if buf = buf[:0]; cap(buf) > 4*writeChunk {
					buf = make([]byte, 0, writeChunk)
				}
			}
			if f.reached != nil {
				close(f.reached)
			}
		}
		o.rest()
	}
}

// rest ends a turn of the writer.
func (o *outbox) rest() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy = false
}

// take waits for frames and hands over all there are; none when there will be no more.
func (o *outbox) take(spare []frame) []frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && (o.busy || len(o.frames) == 0 && !o.closed) {
		o.work.Wait()
	}
	if o.err != nil {
		o.frames = nil
		return nil
	}
	batch := o.frames
	o.busy = len(batch) > 0
	if o.frames = spare; cap(spare) > maxSpareFrames {
		o.frames = nil // a burst is no reason to keep its memory
	}
	return batch
}

func (o *outbox) wrote(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= n
	o.space.Broadcast()
}

func (o *outbox) flush(buf []byte) error {
	for len(buf) > 0 {
		n := min(len(buf), writeChunk)
		o.watchdog.Reset(o.timeout)
		wrote, err := o.to.Write(buf[:n])
		o.watchdog.Stop()
		if err == nil && wrote < n {
			err = io.ErrShortWrite
		}
		if err != nil {
			return &writeError{err}
		}
		buf = buf[n:]
	}
	return nil
}

// writeError is a failure of the output stream; gone tells whether it means that the client went away.
type writeError struct{ err error }

func (e *writeError) Error() string { return "writing to the client: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

func clientGone(err error) bool {
	var w *writeError
	return errors.As(err, &w) && brokenPipe(w.err)
}
