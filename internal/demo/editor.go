package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"

	"mem/core/text"
)

// editor is a running mem-lsp with the least that an editor does: it keeps one file
// open, shows what is published for it, and makes edits.
type editor struct {
	label   string
	cmd     *exec.Cmd
	conn    jsonrpc2.Conn
	errs    *tail
	shown   chan published
	uri     string
	text    string
	version int
}

// published are the diagnostics of one version of a file.
type published struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    lspRange `json:"range"`
	Severity int      `json:"severity"`
	Code     string   `json:"code"`
	Source   string   `json:"source,omitempty"`
	Message  string   `json:"message"`
	Tags     []int    `json:"tags,omitempty"`
}

type lspRange struct {
	Start text.Position `json:"start"`
	End   text.Position `json:"end"`
}

// codeAction is what an editor offers a person; Edit may come when it is chosen.
type codeAction struct {
	Title       string          `json:"title"`
	Kind        string          `json:"kind"`
	Diagnostics []diagnostic    `json:"diagnostics,omitempty"`
	Edit        *workspaceEdit  `json:"edit,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
}

type workspaceEdit struct {
	DocumentChanges []documentChange `json:"documentChanges"`
}

// documentChange is the creation of a file, or the edits of one.
type documentChange struct {
	Kind         string `json:"kind,omitempty"`
	URI          string `json:"uri,omitempty"`
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Edits []struct {
		Range   lspRange `json:"range"`
		NewText string   `json:"newText"`
	} `json:"edits"`
}

// pipes joins the two ends of a child process to one stream.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// edit starts a language server and opens a file in it.
func (s *stage) edit(label, file string) *editor {
	if s.err != nil {
		return nil
	}
	e, err := s.startEditor(label, file)
	if err != nil {
		s.fail(fmt.Errorf("starting the language server: %w", err))
	}
	return e
}

func (s *stage) startEditor(label, file string) (*editor, error) {
	e := &editor{label: label, errs: &tail{}, shown: make(chan published, 64), uri: fileURI(file), version: 1}
	e.cmd = exec.CommandContext(s.ctx, s.languageServer[0], s.languageServer[1:]...)
	e.cmd.Env, e.cmd.Dir, e.cmd.Stderr, e.cmd.WaitDelay = s.scratch.env, filepath.Dir(file), e.errs, endWait
	in, err := e.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	s.editors = append(s.editors, e)
	s.report.Servers++
	e.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(pipes{out, in}))
	e.conn.Go(s.ctx, e.hear)
	var hello struct {
		Capabilities struct {
			PositionEncoding string `json:"positionEncoding"`
		} `json:"capabilities"`
		ServerInfo struct {
			Name string `json:"name"`
		} `json:"serverInfo"`
	}
	able := map[string]any{
		"general":   map[string]any{"positionEncodings": []string{"utf-16"}},
		"workspace": map[string]any{"workspaceEdit": map[string]any{"documentChanges": true, "resourceOperations": []string{"create"}}},
		"textDocument": map[string]any{
			"publishDiagnostics": map[string]any{"versionSupport": true, "tagSupport": map[string]any{"valueSet": []int{1}}},
			"codeAction": map[string]any{"dataSupport": true, "resolveSupport": map[string]any{"properties": []string{"edit"}},
				"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"quickfix", "refactor.extract"}}}},
		},
	}
	err = e.ask(s, "initialize", map[string]any{"processId": os.Getpid(), "rootUri": fileURI(filepath.Dir(file)), "capabilities": able,
		"clientInfo": map[string]any{"name": "demo"}}, &hello)
	if err != nil {
		return nil, err
	}
	if hello.Capabilities.PositionEncoding != "utf-16" {
		return nil, fmt.Errorf("it counts in %q, asked for utf-16", hello.Capabilities.PositionEncoding)
	}
	if err := e.conn.Notify(s.ctx, "initialized", map[string]any{}); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	e.text = string(b)
	return e, e.conn.Notify(s.ctx, "textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": e.uri, "languageId": "markdown", "version": e.version, "text": e.text}})
}

// hear takes what the server says unasked, and refuses what it asks.
func (e *editor) hear(_ context.Context, req *jsonrpc2.Request) (any, error) {
	if req.Method() == "textDocument/publishDiagnostics" {
		var p published
		if err := json.Unmarshal(req.Params(), &p); err == nil && p.URI == e.uri {
			select {
			case e.shown <- p:
			default: // nobody waits for so many
			}
		}
	}
	if req.IsCall() {
		return nil, jsonrpc2.ErrMethodNotFound
	}
	return nil, nil
}

// ask makes one request and notes it in the report.
func (e *editor) ask(s *stage, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(s.ctx, endWait)
	defer cancel()
	_, err := e.conn.Call(ctx, method, params, result)
	if err != nil {
		return fmt.Errorf("%s: %w%s", method, err, e.errs.words())
	}
	s.note(&Call{To: e.label, Name: method, Arguments: params, Result: result})
	return nil
}

// diagnostics waits for what is published of the text as it is now.
func (e *editor) diagnostics(s *stage) []diagnostic {
	if s.err != nil {
		return nil
	}
	end := time.After(endWait)
	for {
		select {
		case p := <-e.shown:
			if p.Version == e.version {
				s.note(&Call{To: e.label, Name: "textDocument/publishDiagnostics", Result: p})
				return p.Diagnostics
			}
		case <-s.ctx.Done():
			s.fail(context.Cause(s.ctx))
			return nil
		case <-end:
			s.fail(fmt.Errorf("the language server published nothing for version %d%s", e.version, e.errs.words()))
			return nil
		}
	}
}

// actions asks for what can be done about a diagnostic.
func (e *editor) actions(s *stage, d diagnostic, kind string) []codeAction {
	if s.err != nil {
		return nil
	}
	var all []codeAction
	s.fail(e.ask(s, "textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri}, "range": d.Range,
		"context": map[string]any{"diagnostics": []diagnostic{d}, "only": []string{kind}}}, &all))
	return all
}

// take makes the edits of an action: in the open file, and in files that it creates
// and saves, whose paths it gives.
func (e *editor) take(s *stage, a codeAction) (created []string) {
	if s.err != nil {
		return nil
	}
	if a.Edit == nil {
		if err := e.ask(s, "codeAction/resolve", a, &a); err != nil {
			s.fail(err)
			return nil
		}
	}
	if a.Edit == nil {
		s.fail(fmt.Errorf("the action %q has no edit", a.Title))
		return nil
	}
	for _, c := range a.Edit.DocumentChanges {
		if err := e.change(s, c, &created); err != nil {
			s.fail(err)
			return nil
		}
	}
	s.fail(os.WriteFile(filePath(e.uri), []byte(e.text), 0o600))
	s.fail(e.conn.Notify(s.ctx, "textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri}}))
	return created
}

func (e *editor) change(s *stage, c documentChange, created *[]string) error {
	if c.Kind == "create" {
		*created = append(*created, filePath(c.URI))
		return os.WriteFile(filePath(c.URI), nil, 0o600)
	}
	was, path := e.text, filePath(c.TextDocument.URI)
	if c.TextDocument.URI != e.uri {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		was = string(b)
	}
	t := text.New(was)
	var edits []text.Edit
	for _, x := range c.Edits {
		span, err := t.SpanOf(x.Range.Start, x.Range.End, text.UTF16)
		if err != nil {
			return err
		}
		edits = append(edits, text.Edit{Span: span, New: x.NewText})
	}
	is, ok := text.Apply(was, edits)
	if !ok {
		return errors.New("the edits of an action overlap")
	}
	if c.TextDocument.URI != e.uri {
		return os.WriteFile(path, []byte(is), 0o600)
	}
	e.text = is
	e.version++
	return e.conn.Notify(s.ctx, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": e.uri, "version": e.version},
		"contentChanges": []map[string]any{{"text": is}}})
}

// quit leaves the server, which ends then.
func (e *editor) quit(s *stage) {
	if s.err != nil {
		return
	}
	s.fail(e.ask(s, "shutdown", nil, nil))
	s.fail(e.conn.Notify(s.ctx, "exit", nil))
	s.fail(e.stop())
}

// stop ends the process, whatever it does.
func (e *editor) stop() error {
	if e.cmd.ProcessState != nil {
		return nil
	}
	late := time.AfterFunc(endWait, func() { _ = e.cmd.Process.Kill() }) // it may just have ended
	defer late.Stop()
	closed := e.conn.Close() // its input ends, and its output with it
	if ended := e.cmd.Wait(); ended != nil {
		return fmt.Errorf("stopping the language server: %w%s", ended, e.errs.words())
	}
	return closed
}

// fileURI names a file as the protocol does.
func fileURI(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") { // C:/x
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	p := u.Path
	if runtime.GOOS == "windows" {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.FromSlash(p)
}
