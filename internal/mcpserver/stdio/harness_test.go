package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is the other end of a session, with nothing between the test and the wire.
type client struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *io.PipeReader
	stop context.CancelFunc
	done chan struct{}
	err  error // of Serve, once done is closed

	got chan message
}

// message is any line that the server sent.
type message struct {
	raw    string
	ID     json.RawMessage
	Method string
	Params struct {
		RequestID json.RawMessage
		Progress  float64
		Meta      map[string]any `json:"_meta"`
		URI       string
	}
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    any
	}
}

func connect(t testing.TB, srv *server.MCPServer, opts Options) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{t: t, in: inW, out: outR, stop: cancel, done: make(chan struct{}), got: make(chan message, 1<<16)}
	go func() {
		defer close(c.done)
		c.err = Serve(ctx, srv, inR, outW, opts)
		inR.Close()
		outW.Close()
	}()
	t.Cleanup(func() {
		c.close()
		outR.Close()
		cancel()
		<-c.done
	})
	return c
}

// listen reads everything that comes, until the server's output ends.
func (c *client) listen() *client {
	go func() {
		defer close(c.got)
		lines := bufio.NewScanner(c.out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			m := message{raw: lines.Text()}
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				m.Method = "not JSON: " + err.Error()
			}
			c.got <- m
		}
	}()
	return c
}

func (c *client) close() { c.in.Close() }

// send writes lines in one piece, as a client does that has several things to say.
func (c *client) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Errorf("sending: %v", err)
	}
}

func (c *client) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.got:
		if !ok {
			c.t.Fatal("the server's output ended")
		}
		return m
	case <-time.After(20 * time.Second):
		c.t.Fatal("nothing came within 20 s")
	}
	panic("unreachable")
}

// expect is next, which must be the reply to id.
func (c *client) expect(id string) message {
	c.t.Helper()
	m := c.next()
	if string(m.ID) != id || m.Method != "" {
		c.t.Fatalf("got %s\nwant the reply to %s", clip(m.raw), id)
	}
	return m
}

// rest is everything up to the end of output.
func (c *client) rest() (all []message) {
	for m := range c.got {
		all = append(all, m)
	}
	return all
}

// wait returns what Serve returned.
func (c *client) wait() error {
	c.t.Helper()
	select {
	case <-c.done:
		return c.err
	case <-time.After(20 * time.Second):
		c.t.Fatal("Serve did not return within 20 s")
	}
	panic("unreachable")
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{"elicitation":{},"roots":{},"sampling":{}},"clientInfo":{"name":"test","version":"1"}}}`

func (c *client) handshake() *client {
	c.t.Helper()
	c.send(initialize)
	c.expect(`"init"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func toolCall(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`

// modern is a request of the stateless era; params are further members of params, each with a comma before it.
func modern(id, method, clientName, caps, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{`+modernMeta+`%s}}`, id, method, clientName, caps, params)
}

func ping(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id) }

func cancelled(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"test"}}`, id)
}

// tools is a server with the handlers that the tests need.
type tools struct {
	*server.MCPServer
	started chan string   // the id of each "slow" call that runs
	release chan struct{} // lets "slow" calls return
	session atomic.Pointer[session]

	mu    sync.Mutex
	ended map[string]error // how the context of "slow" calls ended
}

func newTools() *tools {
	ts := &tools{
		started: make(chan string, 1<<14),
		release: make(chan struct{}),
		ended:   make(map[string]error),
	}
	hooks := &server.Hooks{}
	hooks.AddOnRegisterSession(func(_ context.Context, s server.ClientSession) {
		if ours, ok := s.(*session); ok {
			ts.session.Store(ours)
		}
	})
	ts.MCPServer = server.NewMCPServer("test", "1", server.WithHooks(hooks),
		server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
	ts.add("echo", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("<ok>"), nil
	})
	ts.add("slow", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id := string(server.ClientSessionFromContext(ctx).(*call).id)
		ts.started <- id
		select {
		case <-ts.release:
			return mcp.NewToolResultText("late"), nil
		case <-ctx.Done():
			ts.mu.Lock()
			ts.ended[id] = context.Cause(ctx)
			ts.mu.Unlock()
			return mcp.NewToolResultText("cancelled"), nil
		}
	})
	ts.add("deaf", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ts.started <- "deaf"
		<-ts.release
		return mcp.NewToolResultText("late"), nil
	})
	ts.add("progress", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := r.GetInt("n", 3)
		for i := range n {
			if err := ts.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": 1, "progress": i}); err != nil {
				return nil, fmt.Errorf("progress %d: %w", i, err)
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	ts.add("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") })
	return ts
}

func (ts *tools) add(name string, h server.ToolHandlerFunc) {
	ts.AddTool(mcp.NewToolWithRawSchema(name, name, json.RawMessage(`{"type":"object"}`)), h)
}

func (ts *tools) cause(id string) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.ended[id]
}

var errTest = errors.New("test")
