package lspserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// method is one method that the server serves.
type method struct {
	name string
	// request is set where the client waits for an answer.
	request bool
	// inline requests are answered before the next message is read.
	inline bool
	serve  func(ctx context.Context, s *server, docs *documents, params []byte) (any, error)
	// announce says in the server's capabilities that the method is served; nil
	// where the protocol has no place for it.
	announce func(f *features, c *protocol.ServerCapabilities)
}

type announcement = func(f *features, c *protocol.ServerCapabilities)

// request makes a method that is answered. It is given what was open when the
// message came: what the client says later is none of its business.
func request[P, R any](name string, serve func(*server, context.Context, *documents, *P) (R, error), announce announcement) method {
	return method{name: name, request: true, announce: announce,
		serve: func(ctx context.Context, s *server, docs *documents, params []byte) (any, error) {
			p := new(P)
			if err := decode(params, p); err != nil {
				return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("the parameters of %s: %v", name, err))
			}
			return serve(s, ctx, docs, p)
		}}
}

// notification makes a method that is not answered. Notifications are handled one
// after the other, as they came.
func notification[P any](name string, serve func(*server, *P), announce announcement) method {
	return method{name: name, announce: announce,
		serve: func(_ context.Context, s *server, _ *documents, params []byte) (any, error) {
			p := new(P)
			if err := decode(params, p); err != nil {
				return nil, err
			}
			serve(s, p)
			return nil, nil
		}}
}

func inline(m method) method {
	m.inline = true
	return m
}

func decode(params []byte, into any) error {
	if len(params) == 0 {
		params = []byte("{}")
	}
	return protocol.Unmarshal(params, into)
}

// handle is called for each message, one after the other. Notifications are
// handled here, in the order of the wire. Requests go on in a goroutine each, with
// what was open when they came.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	name := req.Method()
	if !req.IsCall() {
		s.notified(name, req.Params())
		return nil, nil // an error would end the connection
	}
	m := s.routes[name]
	switch phase := s.phase.Load(); {
	case phase == fresh && name != protocol.MethodInitialize:
		return nil, jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "the first request has to be initialize")
	case phase == shutDown:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server was shut down")
	case m == nil || !m.request:
		return nil, jsonrpc2.NewError(jsonrpc2.MethodNotFound, fmt.Sprintf("%.80q is not served", name))
	}
	// The id is known before the next message is read: it may be the one that
	// cancels this one. The context is not the request's, which is reused.
	id := req.ID()
	own, done := s.calls.begin(s.ctx, id)
	defer done()
	docs := s.documents()
	if !m.inline {
		jsonrpc2.Async(ctx)
		if err := s.calls.turn(own); err != nil {
			return nil, protocol.ErrRequestCancelled
		}
		defer s.calls.yield()
	}
	return s.answer(own, m, docs, req.Params())
}

// answer serves a request. Whatever goes wrong in it is this request's.
func (s *server) answer(ctx context.Context, m *method, docs *documents, params []byte) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.logf("%s broke down: %v\n%s", m.name, r, debug.Stack())
			result, err = nil, jsonrpc2.NewError(jsonrpc2.InternalError, fmt.Sprintf("%s broke down: %v; please report this", m.name, r))
		}
	}()
	result, err = m.serve(ctx, s, docs, params)
	var coded *jsonrpc2.Error
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &coded):
		return nil, coded
	case ctx.Err() != nil:
		return nil, protocol.ErrRequestCancelled
	}
	return nil, jsonrpc2.NewError(codeRequestFailed, err.Error())
}

// codeRequestFailed is LSP's code for a request that was right and could not be
// served.
const codeRequestFailed jsonrpc2.Code = -32803

// notified handles a notification. None ends the connection.
func (s *server) notified(name string, params []byte) {
	defer func() {
		if r := recover(); r != nil {
			s.logf("%s broke down: %v\n%s", name, r, debug.Stack())
			s.distrust(name, params)
		}
	}()
	if name == protocol.MethodCancelRequest {
		s.calls.cancel(params)
		return
	}
	m := s.routes[name]
	if m == nil || m.request {
		if !strings.HasPrefix(name, "$/") && unserved[name] == "" { // those may be ignored
			s.logf("the notification %.80q is not served", name)
		}
		return
	}
	if s.phase.Load() != initialized && name != protocol.MethodExit {
		return // as LSP says
	}
	if _, err := m.serve(s.ctx, s, nil, params); err != nil {
		s.logf("%s is skipped: %v", name, err)
		s.distrust(name, params)
	}
}

// distrust marks a document whose edit could not be understood: nothing is said of
// it until its whole text comes again. A wrong text would be worse.
func (s *server) distrust(name string, params []byte) {
	if name != protocol.MethodTextDocumentDidChange {
		return
	}
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	if json.Unmarshal(params, &p) == nil {
		s.loseText(p.TextDocument.URI)
	}
}

// calls are the requests under way.
type calls struct {
	mu    sync.Mutex
	stop  map[jsonrpc2.ID]*call
	slots chan struct{}
	all   sync.WaitGroup
}

type call struct{ cancel context.CancelFunc }

// atOnce is how many requests are served at a time; more would only wait for the
// processor.
const atOnce = 8

func (c *calls) begin(parent context.Context, id jsonrpc2.ID) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	own := &call{cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		c.stop, c.slots = map[jsonrpc2.ID]*call{}, make(chan struct{}, atOnce)
	}
	c.stop[id] = own
	c.all.Add(1)
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stop[id] == own { // a client may use an id twice
			delete(c.stop, id)
		}
		c.all.Done()
	}
}

// turn waits until there is room for one more request.
func (c *calls) turn(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *calls) yield() { <-c.slots }

func (c *calls) cancel(params []byte) {
	var p protocol.CancelParams
	if protocol.Unmarshal(params, &p) != nil {
		return
	}
	var id jsonrpc2.ID
	switch v := p.ID.(type) {
	case protocol.Integer:
		id = jsonrpc2.NewNumberID(int64(v))
	case protocol.String:
		id = jsonrpc2.NewStringID(strings.Clone(string(v)))
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if own := c.stop[id]; own != nil {
		own.cancel()
	}
}

// wait waits for all requests under way, no longer than d.
func (c *calls) wait(d time.Duration) {
	done := make(chan struct{})
	go func() { c.all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(d):
	}
}

func ptr[T any](v T) *T { return &v }
