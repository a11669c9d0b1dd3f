package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// protocolVersion is what the demo speaks: the revision that coding agents use
// today.
const protocolVersion = "2025-11-25"

// endWait is how long a server may take to end once its input has ended.
const endWait = 10 * time.Second

// maxLine bounds one message of a server, in bytes.
const maxLine = 16 << 20

// process is one running mem-mcp, with a minimal MCP client on its standard
// streams.
type process struct {
	label string
	cmd   *exec.Cmd
	in    io.WriteCloser
	err   *tail

	mu      sync.Mutex // guards what follows
	lastID  int
	waiting map[int]chan message
	broken  error // why no answer can come any more

	done chan struct{} // closed when the output has ended
}

// message is one JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("protocol error %d: %s", e.Code, e.Message) }

// serverInfo is what a server says of itself.
type serverInfo struct {
	ProtocolVersion string `json:"protocolVersion"`
	ServerInfo      struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
	Instructions string `json:"instructions"`
}

// toolResult is what a tool gives.
type toolResult struct {
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
	Content           []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// start runs a server in dir.
func start(ctx context.Context, label string, command, env []string, dir string) (*process, error) {
	p := &process{label: label, err: &tail{}, waiting: map[int]chan message{}, done: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = env, dir, p.err
	p.cmd.WaitDelay = endWait
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	go p.read(out)
	return p, nil
}

// read hands each answer to whom it is for. Requests of the server get none:
// the demo declares no capability that allows one.
func (p *process) read(out io.Reader) {
	defer close(p.done)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			p.fail(fmt.Errorf("%s wrote a line that is no message: %q", p.label, lines.Text()))
			continue
		}
		if m.ID == nil || m.Method != "" {
			continue
		}
		p.mu.Lock()
		if to := p.waiting[*m.ID]; to != nil {
			to <- m
			delete(p.waiting, *m.ID)
		}
		p.mu.Unlock()
	}
	err := lines.Err()
	if err == nil {
		err = io.EOF
	}
	p.fail(fmt.Errorf("the output of %s ended: %w", p.label, err))
}

// fail tells everybody who waits that no answer comes.
func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = err
	}
	for id, to := range p.waiting {
		close(to)
		delete(p.waiting, id)
	}
}

// request sends a request and waits for its answer.
func (p *process) request(ctx context.Context, method string, params, into any) error {
	to := make(chan message, 1)
	p.mu.Lock()
	if p.broken != nil {
		p.mu.Unlock()
		return p.explain(p.broken)
	}
	p.lastID++
	id := p.lastID
	p.waiting[id] = to
	p.mu.Unlock()
	if err := p.send(message{JSONRPC: "2.0", ID: &id, Method: method, Params: params}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case m, ok := <-to:
		switch {
		case !ok:
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.explain(p.broken)
		case m.Error != nil:
			return m.Error
		}
		if err := json.Unmarshal(m.Result, into); err != nil {
			return fmt.Errorf("the answer of %s to %s: %w", p.label, method, err)
		}
		return nil
	}
}

func (p *process) send(m message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return p.explain(fmt.Errorf("writing to %s: %w", p.label, err))
	}
	return nil
}

// explain adds what the server said on standard error.
func (p *process) explain(err error) error {
	if s := strings.TrimSpace(p.err.String()); s != "" {
		return fmt.Errorf("%w; it said: %s", err, s)
	}
	return err
}

// initialize opens the session.
func (p *process) initialize(ctx context.Context) (info serverInfo, err error) {
	err = p.request(ctx, "initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "mem-demo", "version": "1"},
	}, &info)
	if err != nil {
		return info, fmt.Errorf("initializing %s: %w", p.label, err)
	}
	return info, p.send(message{JSONRPC: "2.0", Method: "notifications/initialized"})
}

// tool calls a tool.
func (p *process) tool(ctx context.Context, name string, args any) (toolResult, error) {
	var r toolResult
	err := p.request(ctx, "tools/call", map[string]any{"name": name, "arguments": args}, &r)
	if err != nil {
		return r, fmt.Errorf("calling %s: %w", name, err)
	}
	return r, nil
}

// resource reads a resource as text.
func (p *process) resource(ctx context.Context, uri string) (string, error) {
	var r struct {
		Contents []struct {
			Text string `json:"text"`
		} `json:"contents"`
	}
	if err := p.request(ctx, "resources/read", map[string]any{"uri": uri}, &r); err != nil {
		return "", fmt.Errorf("reading %s: %w", uri, err)
	}
	if len(r.Contents) != 1 {
		return "", fmt.Errorf("reading %s: %d contents", uri, len(r.Contents))
	}
	return r.Contents[0].Text, nil
}

// stop ends the input, as a client does that goes away, and waits for the
// process. It is an error when the server does not end well by itself.
func (p *process) stop() error {
	closed := p.in.Close()
	late := time.AfterFunc(endWait, func() { _ = p.cmd.Process.Kill() }) // it may just have ended
	<-p.done                                                             // all output is read before Wait closes the pipe
	ended := p.cmd.Wait()
	if !late.Stop() {
		ended = fmt.Errorf("it did not end within %s of its input: %w", endWait, ended)
	}
	if err := errors.Join(closed, ended); err != nil {
		return p.explain(fmt.Errorf("stopping %s: %w", p.label, err))
	}
	return nil
}

// tail keeps the last few lines that a process writes to standard error.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const maxTail = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > maxTail {
		t.buf = bytes.Clone(t.buf[len(t.buf)-maxTail:])
	}
	return len(b), nil
}

// words gives what a process wrote, to end an error with.
func (t *tail) words() string {
	if s := strings.TrimSpace(t.String()); s != "" {
		return "; it wrote: " + s
	}
	return ""
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
