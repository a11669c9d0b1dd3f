package lspserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mem/core/memory"
	"mem/core/project"
	"mem/core/settings"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/rules"
	"mem/diagnostics/workspace"
	"mem/internal/lspcli"
	"mem/internal/mcpserver"
	"mem/internal/term"
)

const origin = "a-session"

// world is a case of a rule on disk: a project that is a repository, and its memory
// where the client keeps it, or in the repository where the case is one.
type world struct {
	t     *testing.T
	top   string // of the project
	dir   string // the memory directory
	env   settings.Env
	texts map[string]string // the files of the memory as they were
}

func newWorld(t *testing.T, c *diagtest.Case) *world {
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
		"file://"+filepath.ToSlash(w.top), offering(string(enc))), nil)
	e.notify("initialized", "{}")
	return e
}

// An opening is how an editor has files open.
type opening struct {
	enc  text.Encoding
	keep bool // the byte order mark stays in the text, as no editor but a plain one does
	all  bool // all files are open, not only the one in which something was found
}

// bring opens a file and types a part of it, so that the text comes to the server in
// pieces.
func (e *editor) bring(o opening, name, src string) {
	e.t.Helper()
	if !o.keep {
		src = strings.TrimPrefix(src, text.BOM)
	}
	t := text.New(src)
	line := t.Lines() / 2
	piece := t.FullLine(line)
	rest := text.New(src[:piece.Start] + src[piece.End:])
	e.open(name, rest.String())
	at := rest.Position(piece.Start, o.enc)
	e.edit(name, replace(at.Line, at.Character, at.Line, at.Character, t.Slice(piece)))
}

// saved gives the files after an edit as the editor saves them.
func (e *editor) saved(o opening, w *world, a action) map[string]string {
	e.t.Helper()
	out := map[string]string{}
	for p, s := range w.texts {
		out[p] = s
	}
	for name, s := range e.made(a) {
		p := filepath.ToSlash(name)
		open := e.server.documents().at(filepath.Join(e.dir, name)) != nil
		if strings.HasPrefix(w.texts[p], text.BOM) && !(open && o.keep) {
			s = text.BOM + s
		}
		out[p] = s
	}
	return out
}

// TestSameBytes makes every offer of every case of every rule in every way that there
// is: computed, by editors that count columns in each encoding, and, for the first
// offers, with mem-lsp fix and memory_fix. The files are the same afterwards.
func TestSameBytes(t *testing.T) {
	var mu sync.Mutex
	made := map[string]int{}
	count := func(fix string) { mu.Lock(); defer mu.Unlock(); made[fix]++ }
	t.Cleanup(func() { // after the parallel ones
		if !t.Failed() && len(made) < 25 {
			t.Errorf("only these fixes were made by an editor: %v", made)
		}
	})
	for _, rule := range rules.All() {
		cases, err := filepath.Glob(filepath.Join("..", "..", "diagnostics", "rules", "testdata", rule.ID, "*.txtar"))
		if err != nil || len(cases) == 0 {
			t.Fatal(rule.ID, err)
		}
		for _, file := range cases {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(rule.ID+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				sameBytes(t, rule, diagtest.Parse(t, src), count)
			})
		}
	}
}

// maxSame bounds the offers of one case that are taken in each editor.
const maxSame = 8

func sameBytes(t *testing.T, rule diagnostics.Rule, c *diagtest.Case, count func(fix string)) {
	ctx := context.Background()
	w := newWorld(t, c)
	d, s := w.open()
	r, err := d.Check(ctx, s, diagnostics.Scope{Late: true})
	if err != nil {
		t.Fatal(err)
	}
	mine := slices.DeleteFunc(r.Findings, func(f diagnostics.Finding) bool { return f.Rule != rule.ID })
	if got := c.Print(mine); got != c.Want && rule.ID != "configuration" { // whose file of the project has an absolute path
		t.Errorf("on disk something else is found (-want +got):\n%s", cmp.Diff(c.Want, got))
	}
	mine = slices.DeleteFunc(mine, func(f diagnostics.Finding) bool { return len(f.Offers) == 0 })
	if len(mine) == 0 {
		return
	}
	for _, o := range []opening{{text.UTF8, true, false}, {text.UTF16, false, true}, {text.UTF32, false, false}} {
		inEditor(t, w, d, s, mine, o, count)
	}
	inBatch(t, rule, c, d, s, mine)
}

// inEditor takes each offer in an editor.
func inEditor(t *testing.T, w *world, d *workspace.Directory, s *diagnostics.Snapshot, mine []diagnostics.Finding, o opening, count func(fix string)) {
	t.Helper()
	e := w.edit(o.enc)
	opened := map[string]bool{}
	bring := func(p string) {
		if src := w.texts[p]; !opened[p] && utf8.ValidString(src) && strings.HasSuffix(p, ".md") && !strings.HasPrefix(p, ".") {
			opened[p] = true
			e.bring(o, p, src)
		}
	}
	if o.all {
		for _, p := range slices.Sorted(maps.Keys(w.texts)) {
			bring(p)
		}
	}
	taken := 0
	for _, f := range mine {
		bring(f.Path)
		marked := !o.keep && f.Text.HasBOM()
		if !opened[f.Path] || marked && f.Rule == "encoding" || taken >= maxSame {
			continue // an editor reads such a file as another one
		}
		if f.Rule == "secret" {
			e.until(f.Path, "the finding", has(f.Rule))
		}
		seen := text.New(w.texts[f.Path])
		at := text.Span{Start: f.Span.Start, End: f.Span.End}
		if marked {
			seen = text.New(strings.TrimPrefix(w.texts[f.Path], text.BOM))
			at.Start, at.End = max(at.Start-len(text.BOM), 0), max(at.End-len(text.BOM), 0)
		}
		place := span{point(seen.Position(at.Start, o.enc)), point(seen.Position(at.End, o.enc))}
		all := e.lightbulb(f.Path, place, "")
		for _, offer := range f.Offers {
			want, err := d.Engine.Make(context.Background(), s, f, offer)
			if err != nil {
				continue // an editor shows why it cannot be taken
			}
			i := slices.IndexFunc(all, func(a action) bool {
				return a.Title == offer.Title && a.Diagnostics[0].Code == f.Rule && a.Diagnostics[0].Range == place
			})
			if i < 0 {
				t.Errorf("%s, %s: at %s in %s %q is not offered: %s", o.enc, f.Rule, place, f.Path, offer.Title, titles(all))
				continue
			}
			if all[i].Disabled != nil {
				t.Errorf("%s: %q cannot be taken: %s", o.enc, offer.Title, all[i].Disabled.Reason)
				continue
			}
			after, err := want.Apply(w.texts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(after, e.saved(o, w, e.take(all[i]))); diff != "" {
				t.Errorf("%s, %s by %q in an editor (-computed +edited):\n%s", o.enc, f.Rule, offer.Title, diff)
			}
			count(offer.Fix)
			taken++
		}
	}
	for _, p := range slices.Sorted(maps.Keys(opened)) {
		if marked := strings.HasPrefix(w.texts[p], text.BOM) && !o.keep; !marked {
			mendFile(t, w, d, s, e, o, p)
		}
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}

// mendFile takes what mends everything in a file that is safe to mend.
func mendFile(t *testing.T, w *world, d *workspace.Directory, s *diagnostics.Snapshot, e *editor, o opening, p string) {
	t.Helper()
	done, err := d.FixAll(context.Background(), s, diagnostics.FixOptions{Paths: []string{p}})
	if err != nil {
		t.Fatal(err)
	}
	all := e.lightbulb(p, span{}, `{"diagnostics":[],"only":["source.fixAll"]}`)
	if done.Change.Empty() {
		return
	}
	want, err := done.Change.Apply(w.texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Errorf("%s: in %s there are %d ways to mend everything", o.enc, p, len(all))
		return
	}
	if diff := cmp.Diff(want, e.saved(o, w, e.take(all[0]))); diff != "" {
		t.Errorf("%s: everything safe in %s in an editor (-computed +edited):\n%s", o.enc, p, diff)
	}
}

// inBatch mends the findings of the rule by the first offers, on the command line and
// by an agent, and by itself where there is one finding.
func inBatch(t *testing.T, rule diagnostics.Rule, c *diagtest.Case, d *workspace.Directory, s *diagnostics.Snapshot, mine []diagnostics.Finding) {
	t.Helper()
	ctx := context.Background()
	for _, unsafe := range []bool{false, true} {
		done, err := d.FixAll(ctx, s, diagnostics.FixOptions{Rules: []string{rule.ID}, Unsafe: unsafe})
		if err != nil {
			t.Fatal(err)
		}
		want, err := done.Change.Apply(c.Texts())
		if err != nil {
			t.Fatal(err)
		}
		if !unsafe && done.Change.Empty() {
			continue // the other round shows what is left alone
		}
		if unsafe && len(mine) == 1 && done.Passes == 1 && len(done.Refused) == 0 {
			one, err := d.Engine.Make(ctx, s, mine[0], mine[0].Offers[0])
			if err != nil {
				t.Fatal(err)
			}
			alone, err := one.Apply(c.Texts())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(alone, want); diff != "" {
				t.Errorf("%s by its first offer, and in batch (-alone +batch):\n%s", rule.ID, diff)
			}
		}
		args := []string{"fix", "--rule", rule.ID}
		if unsafe {
			args = append(args, "--unsafe")
		}
		line := newWorld(t, c)
		said := line.onCommandLine(0, append(args, line.dir)...)
		if diff := cmp.Diff(want, line.files()); diff != "" {
			t.Errorf("mem-lsp %s (-computed +written):\n%s\n%s", strings.Join(args, " "), diff, said)
		}
		before := line.files()
		line.onCommandLine(0, append(args, line.dir)...)
		if diff := cmp.Diff(before, line.files()); diff != "" {
			t.Errorf("mem-lsp %s changes something when it runs again:\n%s", strings.Join(args, " "), diff)
		}
		agent := newWorld(t, c)
		agent.byAgent(fmt.Sprintf(`{"rules":[%q],"unsafe":%v}`, rule.ID, unsafe))
		if diff := cmp.Diff(want, agent.files()); diff != "" {
			t.Errorf("memory_fix, unsafe %v (-computed +written):\n%s", unsafe, diff)
		}
	}
}
