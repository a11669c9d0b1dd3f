// Package lspserver is the language server: it keeps what an editor has open,
// shows what the rules of diagnostics find in it, and hands their fixes over as
// edits for the editor to make. It writes no file of a memory but where no editor can:
// what is published to a team, and a memory that is copied from there.
//
// Each method of the protocol has a file of its own; methods.go lists them.
package lspserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"mem/core/memory"
	"mem/core/settings"
	"mem/diagnostics"
	"mem/diagnostics/rules"
)

// Options is what a server is made of.
type Options struct {
	Env     settings.Env
	In      io.Reader // closed by Serve when ctx ends, where it is an io.Closer
	Out     io.Writer
	Log     io.Writer // what went wrong, in lines; nil drops it
	Version string    // of mem, for the client
}

// ErrNoShutdown says that the client left without asking for a shutdown. LSP wants
// an exit code of 1 then.
var ErrNoShutdown = errors.New("the client left without asking for a shutdown")

// grace is how long requests that are under way may take when the input ends.
const grace = 2 * time.Second

// server is one connection to one client.
type server struct {
	o       Options
	ctx     context.Context // ends with the connection
	stream  *stream
	client  protocol.Client
	outbox  *outbox
	config  userConfig
	routes  map[string]*method
	running sync.WaitGroup // goroutines that are ours

	origin string // the session that topics made by fixes carry
	rules  []diagnostics.Rule
	engine *diagnostics.Engine // in place of a directory's own; nil but in tests

	phase    atomic.Int32
	exit     chan struct{} // closed when the client said exit
	exitOnce sync.Once
	features features // what the client can do; set by initialize

	calls        calls        // requests under way
	asking       atomic.Bool  // the client is being told to ask for diagnostics again
	askingLenses atomic.Bool  // and for lenses
	watched      atomic.Int64 // memory directories that the client was asked to watch

	mu      sync.Mutex
	docs    *documents            // never changed, only replaced
	dirs    map[string]*directory // by path; those in which something is open
	reviews []madeUp              // documents that were made up, by their numbers
	tempDir string                // of what is shown as files; "" before the first

	outside outside

	logMu  sync.Mutex
	logged sync.Map // keys of what was logged once
}

// The phases of a connection.
const (
	newborn int32 = iota
	initialized
	shutDown
)

// Serve speaks with one client until it leaves or ctx ends.
func Serve(ctx context.Context, o Options) error { return newServer(o).serve(ctx) }

func newServer(o Options) *server {
	s := &server{o: o, routes: map[string]*method{}, origin: memory.OriginOf(o.Env), rules: rules.All(), exit: make(chan struct{}),
		docs: &documents{}, dirs: map[string]*directory{}}
	s.outbox = newOutbox(func(err error) { s.logf("sending to the client: %v", err) })
	for _, m := range methods() {
		s.routes[m.name] = &m
	}
	return s
}

func (s *server) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	st := newStream(s.o.In, s.o.Out)
	s.stream = st
	st.log = s.logf
	st.settle = func() { s.calls.wait(grace) }
	st.reject = func(e *jsonrpc2.Error) {
		s.outbox.put("", func(ctx context.Context) error {
			_, err := st.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, e))
			return err
		})
	}
	conn := jsonrpc2.NewConn(st, jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(conn)
	s.running.Go(func() { s.outbox.run(ctx) })
	conn.Go(ctx, s.handle)

	stopped := false
	select {
	case <-s.exit:
	case <-st.ended:
	case <-conn.Done():
	case <-ctx.Done():
		stopped = true
		st.noMore.Store(true)
		if c, ok := s.o.In.(io.Closer); ok {
			go c.Close() // a reader that waits for the client would wait for ever
		}
	}
	cancel()
	// What does not end within the grace waits for a client that does not read, or
	// for an input that cannot be closed. It ends with the process.
	over := make(chan struct{})
	go func() {
		<-conn.Done()
		s.running.Wait()
		s.closeDirectories()
		s.removeTemporary()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(grace):
	}
	switch {
	case s.phase.Load() == shutDown || stopped:
		return nil
	case conn.Err() != nil:
		return fmt.Errorf("the connection to the client: %w", conn.Err())
	}
	return ErrNoShutdown
}

// logf writes a line of the log.
func (s *server) logf(format string, args ...any) {
	if s.o.Log == nil {
		return
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	fmt.Fprintf(s.o.Log, "mem-lsp: "+format+"\n", args...)
}

// codec encodes payloads as the protocol package does, whose own is not exported.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok {
		return raw, nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(b []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = append((*raw)[:0:0], b...)
		return nil
	}
	return protocol.Unmarshal(b, v)
}

// logOnce writes a line of the log, unless one was written under the same key.
func (s *server) logOnce(key, format string, args ...any) {
	if _, logged := s.logged.LoadOrStore(key, true); !logged {
		s.logf(format, args...)
	}
}
