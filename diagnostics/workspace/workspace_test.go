package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
	"mem/internal/need"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a home, a repository "p" and what a test writes.
type world struct {
	t   *testing.T
	dir string
	env settings.Env
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	w.env = settings.Env{Home: w.at("home"), Cwd: w.at("p"), GOOS: runtime.GOOS, ConfigDir: w.at("config"),
		ManagedSettings: w.at("managed.json"), Now: func() time.Time { return now }}
	w.put("home/.keep", "")
	w.repository("p")
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) put(name, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.at(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.at(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(name, target string) {
	w.t.Helper()
	need.Link(w.t, target, w.at(name))
}

func (w *world) repository(name string) {
	w.put(name+"/.git/HEAD", "ref: refs/heads/main\n")
	for _, d := range []string{"/.git/objects", "/.git/refs"} {
		if err := os.MkdirAll(w.at(name+d), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
}

// memory is where the client keeps the memory of a project.
func (w *world) memory(name string) string {
	return "home/.claude/projects/" + project.Slug(w.at(name)) + "/memory"
}

func (w *world) open(name string, o workspace.Options) *workspace.Directory {
	w.t.Helper()
	o.Env = w.env
	d, err := workspace.Open(w.at(name), o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { d.Close() })
	return d
}

func snapshot(t *testing.T, d *workspace.Directory, buffers map[string]memdir.Buffer) *diagnostics.Snapshot {
	t.Helper()
	s, err := d.Snapshot(context.Background(), buffers)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func buffers(texts ...string) map[string]memdir.Buffer {
	out := map[string]memdir.Buffer{}
	for i := 0; i < len(texts); i += 2 {
		out[texts[i]] = memdir.Buffer{Text: texts[i+1], ModTime: now}
	}
	return out
}

func rulesOf(t *testing.T, d *workspace.Directory, s *diagnostics.Snapshot) []string {
	t.Helper()
	r, err := d.Check(context.Background(), s, diagnostics.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Path+" "+f.Rule)
	}
	return out
}

const marked = "\ufeff# Memory\n" // has a byte order mark, which a rule finds

func TestDiskAndBuffers(t *testing.T) {
	w := newWorld(t)
	w.put("m/MEMORY.md", "# Memory\n")
	d := w.open("m", workspace.Options{Origin: "a-session"})
	if got := rulesOf(t, d, snapshot(t, d, nil)); len(got) > 0 {
		t.Errorf("findings on disk: %v", got)
	}
	s := snapshot(t, d, buffers("MEMORY.md", marked))
	if got := rulesOf(t, d, s); !slices.Contains(got, "MEMORY.md encoding") {
		t.Errorf("findings of the buffer: %v", got)
	}
	if s.Stamp != (memdir.Stamp{Origin: "a-session", Now: now}) {
		t.Errorf("stamp = %+v", s.Stamp)
	}
	fixed, err := d.FixAll(context.Background(), s, diagnostics.FixOptions{Rules: []string{"encoding"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(fixed.Change.Files) != 1 || fixed.Change.Files[0].Base != marked || len(fixed.Left) != 0 {
		t.Errorf("fixed = %+v", fixed)
	}
	if d.Path() != w.at("m") || d.Project() != "" || len(d.Warnings) > 0 {
		t.Errorf("path %s, project %s, warnings %v", d.Path(), d.Project(), d.Warnings)
	}
}

// TestDirectoryComesAndGoes: an editor opens a new MEMORY.md in a new folder, saves
// it, removes the folder, and another one takes its place.
func TestDirectoryComesAndGoes(t *testing.T) {
	w := newWorld(t)
	d := w.open("new/folder", workspace.Options{})
	if s := snapshot(t, d, nil); s.View.Index.Exists || len(s.View.Topics) > 0 {
		t.Errorf("view of nothing: %+v", s.View)
	}
	old := snapshot(t, d, buffers("MEMORY.md", marked, "sub/a.md", "x\n"))
	if got := rulesOf(t, d, old); !slices.Contains(got, "MEMORY.md encoding") || len(old.View.Topics) != 1 {
		t.Errorf("findings = %v, topics %v", got, old.View.Topics)
	}
	w.put("new/folder/MEMORY.md", "# Saved\n")
	w.put("new/folder/b.md", "body\n")
	s := snapshot(t, d, nil)
	if !s.View.Index.Exists || len(s.View.Topics) != 1 || len(rulesOf(t, d, s)) == 0 && s.View.Topic("b.md") == nil {
		t.Errorf("view of the disk: %+v", s.View)
	}
	if err := os.Rename(w.at("new/folder"), w.at("new/away")); err != nil {
		t.Fatal(err)
	}
	if s := snapshot(t, d, nil); s.View.Index.Exists {
		t.Error("a folder that is gone is still seen")
	}
	w.put("new/folder/MEMORY.md", marked)
	if got := rulesOf(t, d, snapshot(t, d, nil)); !slices.Contains(got, "MEMORY.md encoding") {
		t.Errorf("findings of the other folder: %v", got)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Snapshot(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("err = %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	w := newWorld(t)
	w.put("file", "")
	if _, err := workspace.Open(w.at("file"), workspace.Options{Env: w.env}); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("err = %v", err)
	}
	if _, err := workspace.Open("", workspace.Options{Env: w.env}); err == nil {
		t.Error("no directory is no error")
	}
}

func TestSettings(t *testing.T) {
	w := newWorld(t)
	w.put("m/MEMORY.md", "x\n")
	fp := strings.Repeat("ab", 32)
	w.put("config/config.yaml", "limits:\n  index_lines: 50\n  scan_lines: 12\n  nothing: 1\n  no: 2\nguard:\n  allow: ["+fp+"]\n")
	d := w.open("m", workspace.Options{Project: w.at("gone")})
	if l := snapshot(t, d, nil).Config.Limits; l.IndexLines != 50 || l.ScanLines != 12 || l.IndexSize != 25000 || l.NearPercent != 70 {
		t.Errorf("limits = %+v", l)
	}
	if len(d.Warnings) != 3 || !strings.Contains(d.Warnings[0], "config.yaml:4") || !strings.Contains(d.Warnings[1], "config.yaml:5") || !strings.Contains(d.Warnings[2], "gone") {
		t.Errorf("warnings = %q", d.Warnings)
	}
	if !d.Engine.Allowed(fp) || !d.Engine.Allowed(strings.ToUpper(fp)) || d.Engine.Allowed(strings.Repeat("ac", 32)) || workspace.NewEngine(nil).Allowed("") {
		t.Error("what is allowed is wrong")
	}
}

func TestProject(t *testing.T) {
	w := newWorld(t)
	w.put("p/sub/x", "")
	w.put("p/CLAUDE.md", "p\n")
	w.put("other/CLAUDE.md", "other\n")
	w.put("other/deep/x", "")
	w.repository("q")
	w.put("q/CLAUDE.md", "q\n")
	w.put("plain/CLAUDE.md", "plain\n")
	w.put("home/CLAUDE.md", "home\n")
	for _, tc := range []struct{ dir, project, want string }{
		{w.memory("p"), "p", "p\n"},
		{w.memory("p"), "p/sub", "p\n"},
		{w.memory("p"), "", ""},
		{w.memory("p"), "q", ""},
		{"p/.claude/agent-memory/critic", "", "p\n"},
		{"p/.claude/agent-memory/critic", "q", "p\n"},
		{"p/sub/.claude/agent-memory/critic", "", "p\n"},
		{"p/.claude/agent-memory-snapshots/critic", "", "p\n"},
		{"plain/.claude/agent-memory-local/critic", "", "plain\n"},
		{"home/.claude/agent-memory/critic", "", ""},
		{"p/docs/memory", "", "p\n"},
		{"p", "", "p\n"},
		{"other/deep/memory", "", ""},
		{"other/deep/memory", "other", "other\n"},
	} {
		d := w.open(tc.dir, workspace.Options{Project: named(w, tc.project)})
		got := ""
		if g := snapshot(t, d, nil).Guide; g != nil {
			got = g.Text
		}
		if got != tc.want || len(d.Warnings) > 0 {
			t.Errorf("%s with project %q: guide %q, want %q; warnings %v", tc.dir, tc.project, got, tc.want, d.Warnings)
		}
	}
}

func named(w *world, name string) string {
	if name == "" {
		return ""
	}
	return w.at(name)
}

func TestGuide(t *testing.T) {
	w := newWorld(t)
	d := w.open("p/.claude/agent-memory/critic", workspace.Options{})
	guide := func() *diagnostics.Guide { return snapshot(t, d, nil).Guide }
	check := func(want ...string) {
		t.Helper()
		var got []string
		for g := guide(); g != nil; g = g.Next {
			got = append(got, g.Path, g.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("guide = %.200q, want %q", got, want)
		}
	}
	check()
	w.put("p/AGENTS.md", "agents\n")
	check("AGENTS.md", "agents\n")
	first := guide()
	if again := snapshot(t, d, buffers("a.md", "x\n")).Guide; again != first {
		t.Error("the guide of unchanged files is another one")
	}
	w.link("p/CLAUDE.md", "AGENTS.md")
	w.put("p/.claude/CLAUDE.md", "more\n")
	check("CLAUDE.md", "agents\n", ".claude/CLAUDE.md", "more\n")
	w.put("p/AGENTS.md", "AGENTS\n") // of the same length, within a tick of the clock
	check("CLAUDE.md", "AGENTS\n", ".claude/CLAUDE.md", "more\n")
	w.put("p/AGENTS.md", strings.Repeat("x", 257<<10))
	check(".claude/CLAUDE.md", "more\n")
	w.put("secret", "outside\n")
	if err := os.Remove(w.at("p/CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	w.link("p/CLAUDE.md", "../secret")
	w.put("p/AGENTS.md", "")
	check(".claude/CLAUDE.md", "more\n")
}

// TestConfigStaysTheSame: what was found is kept under the pointer.
func TestConfigStaysTheSame(t *testing.T) {
	w := newWorld(t)
	w.put("p/.mem.yaml", "version: 1\n")
	w.put("p/.claude/agent-memory/critic/MEMORY.md", "x\n")
	d := w.open("p/.claude/agent-memory/critic", workspace.Options{})
	first := snapshot(t, d, nil).Config
	if snapshot(t, d, buffers("MEMORY.md", "y\n")).Config != first {
		t.Error("the configuration of unchanged files is another one")
	}
	open := buffers(".mem.yaml", "version: 1\n")
	second := snapshot(t, d, open).Config
	if second == first {
		t.Error("a buffer of .mem.yaml does not count")
	}
	if snapshot(t, d, open).Config != second {
		t.Error("the configuration of unchanged files is another one")
	}
	w.put("p/.mem.yaml", "version: 1 \n")
	if snapshot(t, d, open).Config == second {
		t.Error("the project's file does not count")
	}
}

// TestConfigFiles: the project's file holds where the directory's own says nothing,
// and the faults of both are found where they stand.
func TestConfigFiles(t *testing.T) {
	w := newWorld(t)
	w.put("config/config.yaml", "limits: {index_lines: 100, scan_topics: 90}\n")
	w.put("p/.mem.yaml", "rules: {encoding: off, orphan-topic: hint}\nlimits: {index_lines: 120, entry_length: 90, nothing: 1}\n")
	w.put("p/.claude/agent-memory/critic/.mem.yaml", "rules: {encoding: warning}\nlimits: {entry_length: 80}\nclient: vim\n")
	w.put("p/.claude/agent-memory/critic/MEMORY.md", marked)
	d := w.open("p/.claude/agent-memory/critic", workspace.Options{})
	s := snapshot(t, d, nil)
	if l := s.Config.Limits; l.IndexLines != 120 || l.EntryLength != 80 || l.Topics != 90 {
		t.Errorf("limits = %+v", l)
	}
	if sev := s.Config.Severities; sev["encoding"] != diagnostics.Warning || sev["orphan-topic"] != diagnostics.Hint {
		t.Errorf("severities = %v", sev)
	}
	outer := w.at("p/.mem.yaml")
	for _, scope := range []diagnostics.Scope{{}, {Paths: []string{"MEMORY.md", ".mem.yaml", outer}}} {
		r, err := d.Check(context.Background(), s, scope)
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]string{}
		for _, f := range r.Findings {
			if f.Rule == "configuration" {
				at[f.Path] = f.Text.Slice(f.Span)
			}
		}
		if len(at) != 2 || at[outer] != "nothing" || at[".mem.yaml"] != "vim" {
			t.Errorf("findings at %v", at)
		}
	}
	s = snapshot(t, d, buffers(".mem.yaml", "rules: {encoding: error}\n"))
	if len(s.Config.Problems) != 1 || s.Config.Severities["encoding"] != diagnostics.Error || s.Config.Limits.EntryLength != 90 {
		t.Errorf("with a buffer: %+v", s.Config)
	}
	if err := os.Remove(outer); err != nil {
		t.Fatal(err)
	}
	w.put("elsewhere.yaml", "client: seed\n")
	w.link("p/.mem.yaml", "../elsewhere.yaml")
	s = snapshot(t, d, nil)
	if ps := s.Config.Problems; len(ps) != 2 || ps[0].Path != outer || !strings.Contains(ps[0].Message, "symbolic link") || s.Config.Client != diagnostics.AnyClient || s.Config.Limits.IndexLines != 100 {
		t.Errorf("config = %+v", s.Config)
	}
}

func TestConfigThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.put("m/MEMORY.md", "x\n")
	w.put("elsewhere", "version: 1\n")
	problems := func() []diagnostics.ConfigProblem {
		d := w.open("m", workspace.Options{})
		return snapshot(t, d, nil).Config.Problems
	}
	for want, put := range map[string]func(){
		"symbolic link":    func() { w.link("m/.mem.yaml", "../elsewhere") },
		"no plain file":    func() { w.put("m/.mem.yaml/x", "") },
		"more than 65536 ": func() { w.put("m/.mem.yaml", strings.Repeat("# long\n", 10_000)) },
	} {
		put()
		got := problems()
		if len(got) != 1 || got[0].Path != ".mem.yaml" || !strings.Contains(got[0].Message, want) {
			t.Errorf("problems = %+v, want %q", got, want)
		}
		if err := os.RemoveAll(w.at("m/.mem.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	w.repository("m")
	w.put("m/.mem.yaml", "version: 1\n")
	if got := problems(); len(got) > 0 {
		t.Errorf("at the top of a repository: %+v", got)
	}
}
