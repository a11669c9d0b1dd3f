package lspserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/uri"
	"go.uber.org/goleak"

	"mem/core/settings"
)

// serveEnv makes the test binary a server on its standard streams.
const serveEnv = "MEM_TEST_SERVE"

func TestMain(m *testing.M) {
	if home := os.Getenv(serveEnv); home != "" {
		err := Serve(context.Background(), Options{Env: settings.Env{Home: home}, In: os.Stdin, Out: os.Stdout, Log: os.Stderr, Version: "test"})
		if err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// editor is a client as plain as can be: it writes the bytes of the protocol and
// keeps all that it was sent.
type editor struct {
	t      testing.TB
	in     io.WriteCloser
	home   string
	dir    string // a memory directory on disk
	done   chan error
	log    *safeLog
	server *server // looked into where the protocol shows too little

	mu       sync.Mutex
	changed  *sync.Cond
	answers  map[int]message
	pushed   map[string][]publication // by URI
	messages []message                // everything else that the server said
	ids      int
	replies  map[string]func(params json.RawMessage) string // to requests of the server
	ended    bool
	version  int
	now      time.Time
}

type message struct {
	ID     *json.RawMessage `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type point struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start point `json:"start"`
	End   point `json:"end"`
}

func (s span) String() string {
	return fmt.Sprintf("%d:%d-%d:%d", s.Start.Line, s.Start.Character, s.End.Line, s.End.Character)
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
	Tags     []int  `json:"tags"`
	Related  []struct {
		Location struct {
			URI   string `json:"uri"`
			Range span   `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation"`
}

type publication struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type safeLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// capable is a client that can do all.
const capable = `{"general":{"positionEncodings":["utf-16"]},
	"workspace":{"applyEdit":true,"textDocumentContent":{},"codeLens":{"refreshSupport":true},"workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename","delete"]}},
	"window":{"showMessage":{},"showDocument":{"support":true}},
	"textDocument":{"publishDiagnostics":{"relatedInformation":true,"tagSupport":{"valueSet":[1,2]},"versionSupport":true},
		"hover":{"contentFormat":["markdown","plaintext"]},"definition":{"linkSupport":false},
		"documentSymbol":{"hierarchicalDocumentSymbolSupport":true},
		"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":["quickfix","refactor","source"]}},"isPreferredSupport":true,
			"disabledSupport":true,"dataSupport":true,"resolveSupport":{"properties":["edit"]}}}}`

// start starts a server over a memory directory with these files, by their paths.
func start(t testing.TB, files map[string]string, with ...func(*server)) *editor {
	t.Helper()
	return startAt(t, t.TempDir(), files, with...)
}

func startAt(t testing.TB, home string, files map[string]string, with ...func(*server)) *editor {
	t.Helper()
	e := newEditor(t, home, files)
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	e.in = inW
	e.server = newServer(Options{Env: settings.Env{Home: e.home, Now: func() time.Time { return e.now }}, In: in, Out: out, Log: e.log, Version: "test"})
	for _, set := range with {
		set(e.server)
	}
	go func() {
		err := e.server.serve(context.Background())
		out.Close()
		in.Close()
		e.done <- err
	}()
	e.listen(outR)
	return e
}

// startProcess starts a server as a process of its own, on its standard streams.
func startProcess(t testing.TB, home string, files map[string]string) (*editor, *exec.Cmd) {
	t.Helper()
	e := newEditor(t, home, files)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+e.home, "HOME="+e.home)
	cmd.Stderr = e.log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e.in = in
	e.listen(out)
	go func() {
		e.mu.Lock()
		for !e.ended { // all has to be read before Wait
			e.changed.Wait()
		}
		e.mu.Unlock()
		e.done <- cmd.Wait()
	}()
	return e, cmd
}

func newEditor(t testing.TB, home string, files map[string]string) *editor {
	t.Helper()
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, home: home, dir: filepath.Join(home, ".claude", "projects", "-work", "memory"), done: make(chan error, 1), log: &safeLog{},
		answers: map[int]message{}, pushed: map[string][]publication{}, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	e.changed = sync.NewCond(&e.mu)
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		e.write(name, text)
	}
	return e
}

// listen reads what the server says until it ends. The test ends after it.
func (e *editor) listen(out io.Reader) {
	read := make(chan struct{})
	go func() { defer close(read); e.read(out) }()
	e.t.Cleanup(func() {
		e.in.Close()
		<-read
		e.result()
		if e.t.Failed() {
			e.t.Logf("the server's log:\n%s", e.log)
		}
	})
}

// write writes a file of the memory as another program would.
func (e *editor) write(name, text string) {
	e.t.Helper()
	p := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		m, err := readMessage(in)
		e.mu.Lock()
		if err != nil {
			e.ended = true
			e.changed.Broadcast()
			e.mu.Unlock()
			return
		}
		var id int
		switch {
		case m.Method == "" && m.ID != nil && json.Unmarshal(*m.ID, &id) == nil:
			e.answers[id] = m
		case m.Method == "textDocument/publishDiagnostics":
			var p publication
			if err := json.Unmarshal(m.Params, &p); err != nil {
				e.t.Errorf("a publication: %v", err)
			}
			e.pushed[p.URI] = append(e.pushed[p.URI], p)
		default:
			e.messages = append(e.messages, m)
		}
		e.changed.Broadcast()
		e.mu.Unlock()
		if m.Method != "" && m.ID != nil { // a request of the server
			e.mu.Lock()
			reply := e.replies[m.Method]
			e.mu.Unlock()
			go func() {
				result := "null"
				if reply != nil {
					result = reply(m.Params)
				}
				e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, *m.ID, result))
			}()
		}
	}
}

func readMessage(in *bufio.Reader) (message, error) {
	var m message
	n := -1
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &n); err != nil {
			return m, fmt.Errorf("header %q: %w", line, err)
		}
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

// raw writes bytes as they are.
func (e *editor) raw(s string) error {
	_, err := io.WriteString(e.in, s)
	return err
}

func (e *editor) send(body string) error {
	return e.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, encode(e.t, params))); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// post sends a request and gives its id.
func (e *editor) post(method string, params any) int {
	e.t.Helper()
	e.mu.Lock()
	e.ids++
	id := e.ids
	e.mu.Unlock()
	if err := e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, encode(e.t, params))); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return id
}

// answer waits for the answer to a request.
func (e *editor) answer(id int) message {
	e.t.Helper()
	var m message
	e.wait(fmt.Sprintf("the answer %d", id), func() (ok bool) { m, ok = e.answers[id]; return ok })
	return m
}

// ask sends a request and decodes its result into out.
func (e *editor) ask(method string, params, out any) {
	e.t.Helper()
	m := e.answer(e.post(method, params))
	if m.Error != nil {
		e.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if out != nil {
		if err := json.Unmarshal(m.Result, out); err != nil {
			e.t.Fatalf("%s: %v in %s", method, err, m.Result)
		}
	}
}

// wait waits until something is true of what was received.
func (e *editor) wait(what string, ok func() bool) {
	e.t.Helper()
	stop := time.AfterFunc(patience, func() { e.mu.Lock(); e.changed.Broadcast(); e.mu.Unlock() })
	defer stop.Stop()
	end := time.Now().Add(patience)
	e.mu.Lock()
	defer e.mu.Unlock()
	for !ok() {
		if e.ended || time.Now().After(end) {
			e.t.Fatalf("%s did not come (ended: %v); the server's log:\n%s", what, e.ended, e.log)
		}
		e.changed.Wait()
	}
}

// initialize agrees with the server; capabilities is their JSON.
func (e *editor) initialize(capabilities string) json.RawMessage {
	e.t.Helper()
	return e.initializeAs("test", capabilities)
}

func (e *editor) initializeAs(client, capabilities string) json.RawMessage {
	e.t.Helper()
	var r json.RawMessage
	e.ask("initialize", fmt.Sprintf(`{"processId":null,"rootUri":null,"clientInfo":{"name":%q},"capabilities":%s}`, client, capabilities), &r)
	e.notify("initialized", "{}")
	return r
}

func (e *editor) uri(name string) string {
	return string(uri.File(filepath.Join(e.dir, filepath.FromSlash(name))))
}

// open opens a file of the memory with a text; it need not be on disk.
func (e *editor) open(name, text string) {
	e.t.Helper()
	e.version++
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": e.uri(name), "languageId": "markdown", "version": e.version, "text": text}})
}

// change gives a file a whole new text.
func (e *editor) change(name, text string) {
	e.t.Helper()
	e.edit(name, map[string]any{"text": text})
}

func (e *editor) edit(name string, changes ...map[string]any) {
	e.t.Helper()
	e.version++
	e.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name), "version": e.version}, "contentChanges": changes})
}

func replace(fromLine, from, toLine, to int, text string) map[string]any {
	return map[string]any{"range": span{point{fromLine, from}, point{toLine, to}}, "text": text}
}

func (e *editor) close(name string) {
	e.t.Helper()
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
}

// shown waits for diagnostics of a file's newest version, or of the version given.
func (e *editor) shown(name string, version int) []diagnostic {
	e.t.Helper()
	var found []diagnostic
	e.wait(fmt.Sprintf("diagnostics of %s, version %d,", name, version), func() bool {
		for _, p := range e.pushed[e.uri(name)] {
			if p.Version == version {
				found = p.Diagnostics
				return true
			}
		}
		return false
	})
	return found
}

// latest gives what the editor shows of a file now.
func (e *editor) latest(name string) []diagnostic {
	all := e.pushed[e.uri(name)]
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1].Diagnostics
}

// until waits until what is shown of a file is as it should be.
func (e *editor) until(name, what string, ok func([]diagnostic) bool) {
	e.t.Helper()
	e.wait(what, func() bool { return len(e.pushed[e.uri(name)]) > 0 && ok(e.latest(name)) })
}

func codes(found []diagnostic) string {
	var all []string
	for _, d := range found {
		all = append(all, d.Code)
	}
	return strings.Join(all, " ")
}

func has(code string) func([]diagnostic) bool {
	return func(found []diagnostic) bool {
		for _, d := range found {
			if d.Code == code {
				return true
			}
		}
		return false
	}
}

func lacks(code string) func([]diagnostic) bool {
	return func(found []diagnostic) bool { return !has(code)(found) }
}

// quit leaves as an editor should, and gives what Serve returned.
func (e *editor) quit() error {
	e.t.Helper()
	e.ask("shutdown", "null", nil)
	e.notify("exit", "null")
	return e.result()
}

func (e *editor) result() error {
	e.t.Helper()
	select {
	case err := <-e.done:
		e.done <- err
		return err
	case <-time.After(patience):
		e.t.Fatal("the server does not end")
		return errors.New("")
	}
}
