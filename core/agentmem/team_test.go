package agentmem

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/settings"
)

// member is somebody with a clone and a state of their own.
type member struct {
	t    *testing.T
	name string
	dir  string // the clone
	env  settings.Env
	now  time.Time
}

func newMember(t *testing.T, name, dir string) *member {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := &member{t: t, name: name, dir: dir, now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	m.env = settings.Env{Lookup: func(string) (string, bool) { return "", false }, Home: home, Cwd: dir,
		ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"),
		ManagedSettings: filepath.Join(home, "none.json"),
		Now:             func() time.Time { m.now = m.now.Add(time.Second); return m.now }}
	return m
}

func (m *member) open() *Shared {
	m.t.Helper()
	s, err := Open(memory.Options{Env: m.env, Project: m.dir, Actor: "test"}, "reviewer")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (m *member) store() string { return filepath.Join(m.dir, ".claude", "agent-memory", "reviewer") }
func (m *member) snapshot() string {
	return filepath.Join(m.dir, filepath.FromSlash(SnapshotsDir), "reviewer")
}

func write(t *testing.T, dir, p, s string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(s), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (m *member) put(p, s string) { m.t.Helper(); write(m.t, m.store(), p, s) }

func (m *member) get(p string) string {
	b, err := os.ReadFile(filepath.Join(m.store(), filepath.FromSlash(p)))
	if err != nil {
		return ""
	}
	return string(b)
}

// topic writes a topic with its entry in front of the index.
func (m *member) topic(name, body string) {
	m.t.Helper()
	m.put(name+".md", topicText(name, body))
	index := m.get("MEMORY.md")
	if !strings.Contains(index, "("+name+".md)") {
		m.put("MEMORY.md", entryOf(name)+index)
	}
}

func entryOf(name string) string { return "- [" + name + "](" + name + ".md) — about " + name + "\n" }

func topicText(name, body string) string {
	return "---\nname: " + name + "\ndescription: about " + name + "\ntype: project\n---\n\n" + body
}

func (m *member) status() *Status {
	m.t.Helper()
	st, err := m.open().Status(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	return st
}

func (m *member) pull(o PullOptions) *Pulled {
	m.t.Helper()
	p, err := m.open().Pull(context.Background(), o)
	if err != nil {
		m.t.Fatalf("%s pulls: %v", m.name, err)
	}
	return p
}

func (m *member) publish() *Published {
	m.t.Helper()
	p, err := m.open().Publish(context.Background(), PublishOptions{Confirm: true})
	if err != nil {
		m.t.Fatalf("%s publishes: %v", m.name, err)
	}
	return p
}

func (m *member) wantState(want State) *Status {
	m.t.Helper()
	st := m.status()
	if st.State != want {
		m.t.Fatalf("%s: state %s, want %s: %+v", m.name, st.State, want, st)
	}
	return st
}

// filesOf gives every file of a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

func show(files map[string]string) string {
	var names []string
	for n := range files {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "-- %s --\n%s", n, files[n])
	}
	return b.String()
}

// git runs git in the clone, with a configuration of the test alone.
func (m *member) git(args ...string) string {
	m.t.Helper()
	out, err := m.tryGit(args...)
	if err != nil {
		m.t.Fatalf("%s: git %s: %v\n%s", m.name, strings.Join(args, " "), err, out)
	}
	return out
}

func (m *member) tryGit(args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = m.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.env.Home, "GIT_CONFIG_GLOBAL=" + filepath.Join(m.env.Home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=" + m.name, "GIT_COMMITTER_NAME=" + m.name, "GIT_AUTHOR_EMAIL=" + m.name + "@example.com", "GIT_COMMITTER_EMAIL=" + m.name + "@example.com",
		"SystemRoot=" + os.Getenv("SystemRoot"), "AGENTMEM_DRIVER=1"}
	out, err := c.CombinedOutput()
	return string(out), err
}

func remove(t *testing.T, dir, p string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
		t.Fatal(err)
	}
}
