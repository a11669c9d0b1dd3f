package agentmem

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mem/core/memory"
	"mem/core/settings"
)

// TestMain makes this binary the merge driver that git runs, where it is called as one.
func TestMain(m *testing.M) {
	if asDriver() || asMember() {
		return
	}
	goleak.VerifyTestMain(m)
}

// scene is a home and a project of a test's own.
type scene struct {
	t    testing.TB
	home string
	base string // the project
	env  settings.Env
	vars map[string]string
}

func newScene(t testing.TB) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, home: filepath.Join(root, "home"), base: filepath.Join(root, "project"), vars: map[string]string{"MEM_SESSION_ID": "test"}}
	for _, d := range []string{s.home, s.base} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = settings.Env{
		Lookup: func(k string) (string, bool) { v, ok := s.vars[k]; return v, ok },
		Home:   s.home, Cwd: s.base, GOOS: "linux", ConfigDir: filepath.Join(root, "config"), StateDir: filepath.Join(root, "state"),
		CacheDir: filepath.Join(root, "cache"), ManagedSettings: filepath.Join(root, "managed.json"),
		Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
	}
	return s
}

// git makes the project a repository.
func (s *scene) git() {
	s.put(filepath.Join(s.base, ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(s.base, ".git", d), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
}

// worktree makes another checkout of the repository, its head detached.
func (s *scene) worktree(name string) string {
	top := filepath.Join(filepath.Dir(s.base), name)
	own := filepath.Join(s.base, ".git", "worktrees", name)
	s.put(filepath.Join(top, ".git"), "gitdir: "+own+"\n")
	s.put(filepath.Join(own, "HEAD"), "0123456789012345678901234567890123456789\n")
	s.put(filepath.Join(own, "commondir"), "../..\n")
	s.put(filepath.Join(own, "gitdir"), filepath.Join(top, ".git")+"\n")
	return top
}

func (s *scene) put(name, content string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// topic writes a topic with its entry into a memory directory.
func (s *scene) topic(dir, name, body string) {
	s.t.Helper()
	s.put(filepath.Join(dir, name+".md"), fmt.Sprintf("---\nname: %s\ndescription: About %s\ntype: project\n---\n\n%s\n", name, name, body))
	index, err := os.OpenFile(filepath.Join(dir, "MEMORY.md"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(index, "- [%s](%s.md) — about %s\n", name, name, name); err != nil {
		s.t.Fatal(err)
	}
	if err := index.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) open(store string) *memory.Memory {
	s.t.Helper()
	m, err := memory.Open(memory.Options{Env: s.env, Store: store})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := m.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return m
}

func (s *scene) in(parts ...string) string {
	return filepath.Join(append([]string{s.base}, parts...)...)
}
