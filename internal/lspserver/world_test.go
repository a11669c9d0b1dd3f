package lspserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/uri"

	"mem/core/memory"
	"mem/core/project"
	"mem/core/settings"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/workspace"
	"mem/internal/lspcli"
	"mem/internal/mcpserver"
	"mem/internal/term"
)

const origin = "a-session"

// world is a case of a rule on disk: a project that is a repository, and its memory
// where the client keeps it, or in the repository where the case is one.
type world struct {
	t     testing.TB
	top   string // of the project
	dir   string // the memory directory
	env   settings.Env
	texts map[string]string // the files of the memory as they were
}

func newWorld(t testing.TB, c *diagtest.Case) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, top: filepath.Join(home, "work", "project"), texts: c.Texts()}
	w.env = settings.Env{Home: home, Cwd: w.top, GOOS: runtime.GOOS, ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"),
		CacheDir: filepath.Join(home, "cache"), ManagedSettings: filepath.Join(home, "managed.json"), Now: func() time.Time { return c.Stamp.Now },
		Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"MEM_SESSION_ID": origin}[name]
			return v, ok
		}}
	w.dir = filepath.Join(home, ".claude", "projects", project.Slug(w.top), "memory")
	if c.Files[".git/HEAD"] != nil {
		w.dir = w.top
	}
	w.put(filepath.Join(w.top, ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, d := range []string{filepath.Join(w.top, ".git", "objects"), filepath.Join(w.top, ".git", "refs"), w.dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if c.Beside != "" {
		w.dir = filepath.Join(w.top, "service", ".claude", "agent-memory", "reviewer")
		w.put(filepath.Join(w.top, filepath.FromSlash(c.Beside), "MEMORY.md"), "# Memory\n")
	}
	if c.Shared() {
		w.dir = c.Layout(t, w.top, w.env)
		return w
	}
	for g := c.Guide; g != nil; g = g.Next {
		w.put(filepath.Join(w.top, g.Path), g.Text)
	}
	if c.Config != "" {
		w.put(filepath.Join(w.dir, diagnostics.ConfigName), c.Config)
	}
	if len(c.Allow) > 0 {
		w.put(w.env.ConfigFile(), "guard:\n  allow: ["+strings.Join(c.Allow, ", ")+"]\n")
	}
	for p, f := range c.Files {
		name := filepath.Join(w.dir, filepath.FromSlash(p))
		w.put(name, string(f.Data))
		if err := os.Chtimes(name, f.ModTime, f.ModTime); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) put(name, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// files gives what the memory holds now. What the layout itself put there is left out.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if _, ours := w.texts[rel]; !ours && (strings.HasPrefix(rel, ".") || w.dir == w.top && !strings.HasSuffix(rel, ".md")) {
			return nil
		}
		b, err := os.ReadFile(name)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// open gives the memory as the engine sees it.
func (w *world) open() (*workspace.Directory, *diagnostics.Snapshot) {
	w.t.Helper()
	d, err := workspace.Open(w.dir, workspace.Options{Env: w.env, Project: w.top, Origin: origin})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { d.Close() })
	s, err := d.Snapshot(context.Background(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return d, s
}

// onCommandLine runs mem-lsp.
func (w *world) onCommandLine(want int, args ...string) string {
	w.t.Helper()
	var out, log bytes.Buffer
	code := lspcli.Run(context.Background(), lspcli.Options{Env: w.env, Version: "test",
		Streams: term.Streams{In: strings.NewReader(""), Out: &out, Err: &log}}, append(args, "--project", w.top))
	if code != want {
		w.t.Errorf("mem-lsp %s ends with %d:\n%s%s", strings.Join(args, " "), code, &out, &log)
	}
	return out.String() + log.String()
}

// byAgent calls memory_fix.
func (w *world) byAgent(arguments string) {
	w.t.Helper()
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := mcpserver.New(mcpserver.Options{Version: "test", Memory: memory.Options{Env: w.env, MemoryDir: w.dir, Project: w.top}}).Serve(context.Background(), in, out)
		out.Close()
		done <- err
	}()
	r := bufio.NewReader(outR)
	for i, request := range []string{
		`"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`,
		`"tools/call","params":{"name":"memory_fix","arguments":` + arguments + `}`,
	} {
		if _, err := fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", i, request); err != nil {
			w.t.Fatal(err)
		}
		line, err := r.ReadBytes('\n')
		if err != nil {
			w.t.Fatal(err)
		}
		var m struct {
			Result struct{ IsError bool }
			Error  any
		}
		if err := json.Unmarshal(line, &m); err != nil || m.Error != nil || m.Result.IsError {
			w.t.Errorf("%s: %s (%v)", request, line, err)
		}
	}
	inW.Close()
	if err := <-done; err != nil {
		w.t.Error(err)
	}
}

// edit starts a server for an editor that works in the project.
func (w *world) edit(enc text.Encoding) *editor {
	w.t.Helper()
	e := newEditor(w.t, w.env.Home, nil)
	e.dir = w.dir
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	e.in = inW
	e.server = newServer(Options{Env: w.env, In: in, Out: out, Log: e.log, Version: "test"})
	go func() {
		err := e.server.serve(context.Background())
		out.Close()
		in.Close()
		e.done <- err
	}()
	e.listen(outR)
	e.ask("initialize", fmt.Sprintf(`{"processId":null,"rootUri":%q,"clientInfo":{"name":"test"},"capabilities":%s}`,
		string(uri.File(w.top)), offering(string(enc))), nil)
	e.notify("initialized", "{}")
	return e
}
