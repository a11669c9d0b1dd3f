package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"
)

// pipes are the standard streams of a server as one.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// TestEditorPublishesReadOnly: a checkout that the user of an editor cannot write is told when
// they publish there, once, and nothing of it is written.
func TestEditorPublishesReadOnly(t *testing.T) {
	p, _ := newTeamPlace(t)
	p.write(t, "project/.claude/agent-memory/reviewer/more.md", "---\nname: more\ndescription: More\ntype: project\n---\n\nMore.\n")
	index := "- [style](style.md) — how we write\n- [more](more.md) — more\n"
	p.write(t, "project/.claude/agent-memory/reviewer/MEMORY.md", index)
	before := snapshotOf(t, p.project)
	as := giveTo(t, p.root)
	writable := readOnly(t, p.project)

	cmd := exec.Command(readable(t, languageServer))
	cmd.Dir, cmd.Env, cmd.SysProcAttr, cmd.Stderr = p.project, p.env, as, os.Stderr
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
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	said := make(chan string, 10)
	server := jsonrpc2.NewConn(jsonrpc2.NewStream(pipes{out, in}))
	server.Go(ctx, func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		switch r.Method() {
		case "window/showMessageRequest":
			return map[string]any{"title": "Publish"}, nil
		case "window/showMessage":
			var m struct{ Message string }
			err := json.Unmarshal(r.Params(), &m)
			said <- m.Message
			return nil, err
		}
		return nil, nil
	})
	call := func(method string, params any) {
		t.Helper()
		if _, err := server.Call(ctx, method, params, nil); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	notify := func(method string, params any) {
		t.Helper()
		if err := server.Notify(ctx, method, params); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	store := filepath.Join(p.project, ".claude", "agent-memory", "reviewer")
	call("initialize", map[string]any{"processId": nil, "rootUri": uri.File(p.project),
		"capabilities": map[string]any{"window": map[string]any{"showMessage": map[string]any{"messageActionItem": map[string]any{}}}}})
	notify("initialized", struct{}{})
	notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri.File(filepath.Join(store, "MEMORY.md")), "languageId": "markdown", "version": 1, "text": index}})
	call("workspace/executeCommand", map[string]any{"command": "mem.snapshot.publish", "arguments": []any{uri.File(store)}})
	select {
	case m := <-said:
		for _, words := range []string{"Nothing was published", "agent-memory-snapshots", "permission denied"} {
			if !strings.Contains(m, words) {
				t.Errorf("%q is not in %s", words, m)
			}
		}
		if n := strings.Count(strings.ToLower(m), "nothing was"); n != 1 {
			t.Errorf("it says %d times that nothing was done: %s", n, m)
		}
	case <-ctx.Done():
		t.Error("it does not say that nothing was published")
	}
	call("shutdown", nil)
	notify("exit", nil)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server ends with %v", err)
		}
	case <-time.After(patience):
		t.Error("the server does not end")
	}
	if err := server.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	writable()
	if after := snapshotOf(t, p.project); after != before {
		t.Errorf("it changed:\n%s\nwas:\n%s", after, before)
	}
}
