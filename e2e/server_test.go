package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anything may take before a test gives up on it.
const patience = 60 * time.Second

// mcpServer is a running mem-mcp and the client's end of its streams.
type mcpServer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte // closed at the end of the output
	stderr lockedBuffer
	modern bool
	nextID int
}

// message is one line of the protocol.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// start runs a server in the project of a place.
func (p *place) start(t *testing.T, args ...string) *mcpServer {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = p.project, p.env
	return startCommand(t, cmd)
}

func startCommand(t *testing.T, cmd *exec.Cmd) *mcpServer {
	t.Helper()
	s := &mcpServer{cmd: cmd, lines: make(chan []byte, 1024)}
	cmd.Stderr = &s.stderr
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return // a line without its end was never acknowledged
			}
			s.lines <- line
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			for range s.lines {
			}
			cmd.Wait()
		}
	})
	return s
}

func (s *mcpServer) send(line string) error {
	_, err := io.WriteString(s.in, line+"\n")
	return err
}

var errNoMore = errors.New("the server's output has ended")

func (s *mcpServer) receive() (message, error) {
	var m message
	select {
	case line, ok := <-s.lines:
		if !ok {
			return m, errNoMore
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return m, fmt.Errorf("the server wrote %q: %w", line, err)
		}
		return m, nil
	case <-time.After(patience):
		return m, fmt.Errorf("no message within %s; stderr: %s", patience, s.stderr.String())
	}
}

// meta is what every request of the stateless era carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// request gives a request with a new id; params is the inside of an object.
func (s *mcpServer) request(method, params string) (id, line string) {
	s.nextID++
	id = fmt.Sprint(s.nextID)
	if s.modern {
		params = strings.TrimPrefix(params+","+meta, ",")
	}
	return id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func (s *mcpServer) toolCall(tool string, args any) (id, line string) {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return s.request("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, b))
}

// ask sends a request and waits for its reply, which must be the next one.
func (s *mcpServer) ask(id, line string) (message, error) {
	if err := s.send(line); err != nil {
		return message{}, err
	}
	m, err := s.receive()
	if err == nil && string(m.ID) != id {
		err = fmt.Errorf("reply to %s, not to %s", m.ID, id)
	}
	return m, err
}

// shake does the handshake of the older era.
func (s *mcpServer) shake() error {
	m, err := s.ask(s.request("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}`))
	if err != nil || m.Error != nil {
		return fmt.Errorf("initialize: %v %+v", err, m.Error)
	}
	return s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// problem is an error result.
type problem struct {
	Kind string `json:"kind"`
	Text string `json:"error"`
}

func (p *problem) Error() string { return p.Kind + ": " + p.Text }

// result reads the structured part of a tool's reply; an error result is a
// *problem.
func result(m message, into any) error {
	if m.Error != nil {
		return fmt.Errorf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	var r struct {
		IsError           bool
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return err
	}
	if r.IsError {
		var p problem
		if err := json.Unmarshal(r.StructuredContent, &p); err != nil {
			return fmt.Errorf("an error result without structure: %s", m.Result)
		}
		return &p
	}
	return json.Unmarshal(r.StructuredContent, into)
}

// call calls a tool.
func (s *mcpServer) call(tool string, args, into any) error {
	m, err := s.ask(s.toolCall(tool, args))
	if err != nil {
		return err
	}
	return result(m, into)
}

// stop ends the input as a client does, and wants a clean end.
func (s *mcpServer) stop(t *testing.T) {
	t.Helper()
	s.in.Close()
	s.wait(t)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d; stderr: %s", code, s.stderr.String())
	}
}

// wait waits for the process and throws away what it still says.
func (s *mcpServer) wait(t *testing.T) {
	t.Helper()
	limit := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	for range s.lines {
	}
	s.cmd.Wait()
	if !limit.Stop() {
		t.Errorf("the server did not end within %s", patience)
	}
}

// lockedBuffer is a buffer for a process's standard error.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// args are the arguments of a call.
type args map[string]any

// memory gives arguments of memory_write.
func memory(name, body string) args {
	return args{"name": name, "description": "About " + name, "type": "project", "body": body}
}

// written is what memory_write gives.
type written struct {
	Path, Hash, Entry, Change, Directory string
	Created, Merged                      bool
	Notes                                []string
}
