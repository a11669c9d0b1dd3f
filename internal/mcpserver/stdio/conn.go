package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/rawjson"
)

// conn is one session at work: the reader's side of it is here, Serve starts and ends it.
type conn struct {
	srv       *server.MCPServer
	opts      Options
	ctx       context.Context // of every call
	out       *outbox
	pool      *pool
	session   *session
	questions questions

	stopped    atomic.Bool   // nothing that is read from now on is looked at
	stop       chan struct{} // closed with it
	overloaded bool          // reader only: no waiting call has moved for admitPatience

	mu    sync.Mutex
	calls map[string]*call // waiting and running, by idKey
}

// read handles the input until there is a call for the reader to run, or the input ends: nil at its regular end.
func (c *conn) read(in *lines) (run *call, err error) {
	for {
		line, long, err := in.next()
		switch {
		case c.stopped.Load():
			return nil, nil
		case err != nil && endOfInput(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("reading from the client: %w", err)
		case long != nil:
			c.refuseLong(long)
		case rawjson.Space(line, 0) < len(line):
			if run := c.receive(line); run != nil {
				return run, nil
			}
		}
	}
}

func (c *conn) refuseLong(m *passedOver) {
	id := m.foundID()
	text := fmt.Sprintf("the message is longer than %d bytes", c.opts.MaxMessage)
	if !m.method && m.answer && id != nil {
		c.questions.settle(id, answer{err: errors.New(text)})
		return
	}
	c.refuse(id, mcp.INVALID_REQUEST, text)
}

func (c *conn) refuse(id json.RawMessage, code int, text string) {
	c.out.pushNow(frame{line: errorLine(id, code, text, nil)})
}

// receive routes one message. It gives back a call that the reader is to run.
func (c *conn) receive(line []byte) (run *call) {
	h, err := parseHead(line)
	if !utf8.Valid(line) {
		// Decoding would put U+FFFD in place of what it cannot read, and a memory would be stored so.
		if !utf8.Valid(h.id) {
			h.id = nil
		}
		c.refuse(h.id, mcp.PARSE_ERROR, "the message is not valid UTF-8")
		return nil
	}
	if err != nil {
		code := mcp.INVALID_REQUEST
		if errors.Is(err, errSyntax) || !json.Valid(line) {
			code, err = mcp.PARSE_ERROR, errSyntax
		}
		c.refuse(h.id, code, err.Error())
		return nil
	}
	switch {
	case h.method == "" && h.answer:
		if h.id == nil || !c.questions.settle(h.id, answer{message: line}) {
			c.opts.Logger.Debug("an answer to no open question was ignored", "id", string(h.id))
		}
	case h.method == "" || h.answer:
		c.refuse(h.id, mcp.INVALID_REQUEST, "the message is neither a request nor a notification nor an answer")
	case h.id == nil && h.method == string(mcp.MethodNotificationCancelled):
		c.cancelCall(line)
	case h.id == nil, h.method == string(mcp.MethodInitialize), h.method == string(mcp.MethodPing):
		c.serveInline(h, line)
	default:
		return c.admit(h, line)
	}
	return nil
}

// cancelCall is ours alone: mcp-go knows a call only once it runs, and takes 9 and "9" for one.
func (c *conn) cancelCall(line []byte) {
	var m struct {
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
			Reason    string          `json:"reason"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil {
		return // the protocol wants malformed cancels ignored
	}
	c.mu.Lock()
	k := c.calls[idKey(m.Params.RequestID)]
	c.mu.Unlock()
	if k == nil || !k.markCancelled() {
		return
	}
	cause := ErrCancelled
	if m.Params.Reason != "" {
		cause = fmt.Errorf("%w: %s", ErrCancelled, m.Params.Reason)
	}
	k.cancel(cause)
}

func (c *conn) serveInline(h head, line []byte) {
	s := &inline{session: c.session, over: make(chan struct{})}
	defer close(s.over)
	var reply mcp.JSONRPCMessage
	c.handle(c.srv.WithContext(c.ctx, s), h.method, line, &reply)
	if reply == nil || h.id == nil && !isError(reply) {
		return
	}
	id := h.id
	if id == nil {
		if !json.Valid(line) {
			c.refuse(nil, mcp.PARSE_ERROR, errSyntax.Error())
			return
		}
		id = nullID
	}
	c.out.pushNow(frame{line: encodeReply(id, reply, nil)})
}

func isError(reply mcp.JSONRPCMessage) bool {
	_, ok := reply.(mcp.JSONRPCError)
	return ok
}

// admit registers a request, so that a cancel finds it from now on. It gives back the call where the reader is to run
// it; else the workers have it, or it was refused.
func (c *conn) admit(h head, line []byte) (run *call) {
	k := &call{session: c.session, id: h.id, key: idKey(h.id), method: h.method, message: line}
	c.mu.Lock()
	_, taken := c.calls[k.key]
	if !taken {
		ctx, cancel := context.WithCancelCause(c.ctx)
		k.ctx, k.cancel = c.srv.WithContext(ctx, k), cancel
		c.calls[k.key] = k
	}
	c.mu.Unlock()
	if taken {
		c.refuse(h.id, mcp.INVALID_REQUEST, "a request with this id is still running")
		return nil
	}
	if c.pool.join(k) {
		c.overloaded = false
		return k
	}
	for {
		result := c.pool.submit(k)
		switch result {
		case admitted:
			c.overloaded = false
			return nil
		case fullHouse:
			if !c.overloaded && c.pool.waitForRoom(admitPatience, c.stop) {
				continue
			}
			c.overloaded = true
		}
		c.forget(k)
		switch result {
		case fullHouse:
			c.refuse(h.id, codeOverloaded, "the server is busy: too many requests are waiting; try again when some were answered")
		case tooMany:
			c.refuse(h.id, codeOverloaded, fmt.Sprintf("more than %d subscriptions/listen streams are open; cancel one first", maxListens))
		}
		return nil
	}
}

// forget is called when a call is over, by whoever comes first and by runCall in the end.
func (c *conn) forget(k *call) {
	k.cancel(nil)
	c.mu.Lock()
	if c.calls[k.key] == k {
		delete(c.calls, k.key)
	}
	c.mu.Unlock()
}

// runCall is what a worker does with a call.
func (c *conn) runCall(k *call) {
	defer c.forget(k)
	if k.isCancelled() {
		return
	}
	var reply mcp.JSONRPCMessage
	defer c.answer(k, &reply) // deferred: also when the handler ends its goroutine
	c.handle(k.ctx, k.method, k.message, &reply)
}

// answer sends the reply behind everything that the handler sent.
func (c *conn) answer(k *call, reply *mcp.JSONRPCMessage) {
	if notified := k.flush(); notified && !k.isCancelled() {
		c.gap()
	}
	var line []byte
	if *reply == nil {
		line = errorLine(k.id, mcp.INTERNAL_ERROR, "internal error: the request was not answered", nil)
	} else {
		line = encodeReply(k.id, *reply, k.code.Load())
	}
	if k.markAnswered() {
		c.forget(k) // before the reply: the client may use the id again when it has read it
		c.out.push(frame{line: line})
	}
}

// gap returns when the client has, to all appearance, read what was queued so far, so that the reply reaches it in
// a read of its own. Replies of other calls are not held up.
func (c *conn) gap() {
	if c.opts.ProgressGap == 0 {
		return
	}
	reached := make(chan struct{})
	if !c.out.push(frame{reached: reached}) {
		return
	}
	select {
	case <-reached:
	case <-c.out.dead:
		return
	}
	if c.out.unread == nil {
		time.Sleep(c.opts.ProgressGap)
		return
	}
	for limit := time.Now().Add(drainLimit); time.Now().Before(limit); time.Sleep(drainPoll) {
		if n, ok := c.out.unread(); !ok || n == 0 {
			return
		}
	}
}

// handle lets mcp-go handle a message and leaves its answer in reply, an internal error if the handler panics or ends
// its goroutine. It does not return in the latter case.
func (c *conn) handle(ctx context.Context, method string, message json.RawMessage, reply *mcp.JSONRPCMessage) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		what := fmt.Sprintf("panic in %s: %v", method, v)
		if v == nil {
			what = fmt.Sprintf("the handler of %s ended its goroutine", method)
		}
		c.opts.Logger.Error(what, "stack", string(debug.Stack()))
		*reply = mcp.JSONRPCError{
			JSONRPC: mcp.JSONRPC_VERSION,
			Error:   mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR, "internal error: "+what, nil),
		}
	}()
	*reply = c.srv.HandleMessage(ctx, message)
	returned = true
}
