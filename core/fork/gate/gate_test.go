package gate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"mem/core/fork"
	"mem/core/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary is a text that stands in every file outside of the mounts: a tool that
// gives it has read what it may not.
const canary = "CANARY-7f3a"

// scene is a small world with files in and around the mounts.
type scene struct {
	t       testing.TB
	gate    *Gate
	root    string // all of it
	memory  string
	outside string
}

func newScene(t testing.TB, set ...func(*Options)) *scene {
	t.Helper()
	s := &scene{t: t, root: t.TempDir()}
	s.memory, s.outside = filepath.Join(s.root, "stage", "memory"), filepath.Join(s.root, "home")
	for name, text := range map[string]string{
		"stage/memory/MEMORY.md":          "# Memory\n\n- [Tests](tests.md) — how tests run\n- [Deploy](deploy.md) — when\n",
		"stage/memory/tests.md":           "---\nname: Tests\n---\nRun make test before a push.\nNever mock the database.\n",
		"stage/memory/deploy.md":          "---\nname: Deploy\n---\nDeploy on Mondays.\n",
		"stage/memory/logs/2026/11/a.md":  "one\ntwo\nthree\n",
		"stage/memory/.consolidate-lock":  canary,
		"stage/memory/.hidden/x.md":       canary,
		"stage/transcripts/chosen.jsonl":  `{"type":"user","text":"hello"}` + "\n",
		"stage/transcripts/private.jsonl": canary,
		"stage/secret.md":                 canary,
		"project/main.go":                 "package main\n",
		"project/.env":                    canary,
		"home/.ssh/id_rsa":                canary,
		"home/etc/passwd":                 canary,
		"home/notes.md":                   canary,
	} {
		s.put(name, text)
	}
	scan, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Redact: scan,
		Mounts: []Mount{
			{Name: "memory", Dir: s.memory, Aliases: []string{"/home/someone/.claude/projects/p/memory", `C:\Users\Someone\memory`}, Write: mayWrite},
			{Name: "transcripts", Dir: filepath.Join(s.root, "stage", "transcripts"), Files: []string{"chosen.jsonl"}},
			{Name: "project", Dir: filepath.Join(s.root, "project"), Aliases: []string{"/home/someone/p"}},
		},
	}
	for _, f := range set {
		f(&o)
	}
	if s.gate, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.gate.Close() })
	return s
}

func mayWrite(rel string) error {
	if !strings.HasSuffix(rel, ".md") {
		return errors.New("only Markdown is kept in memory")
	}
	return nil
}

func (s *scene) put(name, text string) {
	s.t.Helper()
	p := filepath.Join(s.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) text(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// call makes a call; the arguments are names and values in turn.
func (s *scene) call(tool string, args ...any) fork.Called {
	s.t.Helper()
	in := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		in[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.gate.Call(context.Background(), tool, raw)
	if c.Read != int64(len(c.Text)) {
		s.t.Errorf("%s gave %d bytes and counted %d", tool, len(c.Text), c.Read)
	}
	return c
}

// ok makes a call that has to work.
func (s *scene) ok(tool string, args ...any) string {
	s.t.Helper()
	c := s.call(tool, args...)
	if c.Refused != "" || c.Failed {
		s.t.Errorf("%s %v: %+v", tool, args, c)
	}
	return c.Text
}

func (s *scene) want(got string, want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			s.t.Errorf("missing %q in:\n%s", w, got)
		}
	}
}

func TestTools(t *testing.T) {
	s := newScene(t)
	s.want(s.ok("Read", "file_path", "/memory/tests.md"), "     4\tRun make test before a push.\n")
	s.want(s.ok("Read", "file_path", "tests.md", "offset", 4, "limit", 1), "     4\tRun", "(lines 4 to 4 of 5; go on with offset 5)")
	s.want(s.ok("Read", "file_path", "/home/someone/.claude/projects/p/memory/tests.md"), "Run make test")
	s.want(s.ok("Read", "file_path", `c:\users\someone\memory\tests.md`), "Run make test")
	s.want(s.ok("Read", "file_path", filepath.Join(s.memory, "tests.md")), "Run make test")
	s.want(s.ok("Read", "file_path", "/transcripts/chosen.jsonl"), "hello")
	if got := s.ok("Grep", "pattern", "test", "-i", true); got != "/memory/MEMORY.md\n/memory/tests.md\n(2 entries were left out: hidden names, links, files that were not chosen for this run, have more than 8 MB or cannot be read)\n" {
		t.Errorf("Grep gives\n%s", got)
	}
	s.want(s.ok("Grep", "pattern", "^Never", "path", "/memory/tests.md", "output_mode", "content", "-B", 1), "/memory/tests.md-4-Run make", "/memory/tests.md:5:Never")
	s.want(s.ok("Grep", "pattern", "o", "output_mode", "count", "glob", "logs/**"), "/memory/logs/2026/11/a.md:2\n")
	s.want(s.ok("Glob", "pattern", "**/*.md"), "/memory/tests.md\n", "/memory/logs/2026/11/a.md\n")
	s.want(s.ok("Glob", "pattern", "/project/*.{go,rs}"), "/project/main.go\n")
	s.want(s.ok("Glob", "pattern", `C:\Users\Someone\memory\*.md`), "/memory/tests.md\n")

	s.want(s.call("Write", "file_path", "/memory/MEMORY.md", "content", "x").Text, "Read it first")
	_ = s.ok("Read", "file_path", "/memory/deploy.md")
	c := s.call("Edit", "file_path", "/memory/deploy.md", "old_string", "Mondays", "new_string", "Tuesdays")
	if len(c.Touched) != 1 || c.Touched[0] != "deploy.md" || !strings.Contains(s.text("stage/memory/deploy.md"), "Tuesdays") {
		t.Errorf("Edit: %+v", c)
	}
	s.want(s.ok("Edit", "file_path", "/memory/deploy.md", "old_string", "Tuesdays", "new_string", "Fridays"), "Changed")
	s.put("stage/memory/deploy.md", "changed meanwhile\n")
	s.want(s.call("Write", "file_path", "/memory/deploy.md", "content", "x").Text, "has changed since")
	s.want(s.ok("Write", "file_path", "/memory/sub/new.md", "content", "new\n"), "Created /memory/sub/new.md")
	if s.text("stage/memory/sub/new.md") != "new\n" {
		t.Error("Write wrote something else")
	}
	s.want(s.call("Edit", "file_path", "/memory/sub/new.md", "old_string", "zzz", "new_string", "y").Text, "does not occur")
}
