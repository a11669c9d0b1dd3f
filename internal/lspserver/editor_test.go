package lspserver

import (
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
