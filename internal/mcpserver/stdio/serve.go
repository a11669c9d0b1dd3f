package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// Serve runs one session of srv over in and out until the input ends, ctx ends or the client goes away, and returns
// when all its goroutines have ended, but for those that Go cannot wake (see below).
//
// It returns nil after the end of input and when the client has closed our output, the cause of ctx when that ended
// the session, [ErrStalled] when the client stopped reading, [ErrUnfinished] when handlers ignored their context, and
// the error of a broken stream else.
//
// To wake a goroutine that is blocked in in or out it sets a deadline in the past, or, where the stream has none and
// is no *os.File, closes it. A read of a blocking standard input, or a write to a blocking standard output that nobody
// reads, outlives Serve until the process exits.
func Serve(ctx context.Context, srv *server.MCPServer, in io.Reader, out io.Writer, opts Options) error {
	opts = opts.withDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(ErrEnded)
	c := &conn{
		srv: srv, opts: opts, ctx: ctx,
		stop:  make(chan struct{}),
		calls: make(map[string]*call),
	}
	c.session = &session{id: opts.SessionID, conn: c}
	if err := srv.RegisterSession(ctx, c.session); err != nil {
		return fmt.Errorf("registering session %q: %w", opts.SessionID, err)
	}
	defer srv.UnregisterSession(context.WithoutCancel(ctx), opts.SessionID)
	c.out = newOutbox(out, opts.MaxQueued, opts.WriteTimeout)
	c.session.notes = newNotifier(c.out.dead, c.session.put)
	c.pool = newPool(opts.Concurrency, c.runCall)

	r := &readers{conn: c, in: newLines(in, opts.MaxMessage), baton: make(chan struct{}), done: make(chan struct{})}
	readDone := r.done
	go r.run()

	var ended error
	select {
	case <-readDone:
		ended = r.err
	case <-ctx.Done():
		ended = context.Cause(ctx)
	case <-c.out.dead:
	}
	unfinished := c.end(ctx, cancel, readDone)
	select {
	case <-readDone:
	default: // an interrupted read wakes at once, a blocked standard input never
		interruptRead(in)
		waitFor(readDone, windDown/10)
	}
	if err := c.out.failure(); err != nil && !clientGone(err) {
		ended = errors.Join(ended, err)
	}
	return errors.Join(ended, unfinished)
}

// end lets the calls finish, or makes them, and writes what is left.
func (c *conn) end(ctx context.Context, cancel context.CancelCauseFunc, readDone <-chan struct{}) (unfinished error) {
	deadline := time.Now().Add(c.opts.Grace)
	c.stopped.Store(true)
	close(c.stop)
	c.pool.close()
	c.questions.close() // no answer can come any more
	c.endStreams()
	empty := c.pool.whenEmpty()

	grace := time.NewTimer(c.opts.Grace)
	defer grace.Stop()
	select {
	case <-empty:
	case <-grace.C:
	case <-ctx.Done():
	case <-c.out.dead:
	}
	cancel(ErrEnded)
	if !waitFor(empty, windDown) {
		unfinished = fmt.Errorf("%w: %d", ErrUnfinished, c.pool.left())
	}

	left := max(time.Until(deadline), windDown)
	settled := make(chan struct{})
	go func() { // it ends at the latest when the queue is closed
		defer close(settled)
		c.session.notes.end()
	}()
	waitFor(settled, left)
	c.out.close()
	if c.out.failure() != nil {
		interruptWrite(c.out.to) // it may still be at it
	}
	if !waitFor(c.out.drained, left) {
		c.out.fail(fmt.Errorf("%w: output was left at the end", ErrStalled))
		interruptWrite(c.out.to)
		waitFor(c.out.drained, windDown/10)
	}
	return unfinished
}

// endStreams closes the subscriptions/listen streams: they are no work to wait for, and mcp-go answers them with the
// result that closes a stream in good order.
func (c *conn) endStreams() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.calls {
		if k.listens() {
			k.cancel(ErrEnded)
		}
	}
}

// waitFor reports whether done was closed within the limit.
func waitFor(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
