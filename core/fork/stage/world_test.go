package stage

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/settings"
)

// TestMain keeps the tests fast on slow disks; MEM_SOAK=n lets properties run n times as
// long.
func TestMain(m *testing.M) {
	mostNew = 60
	flag.Parse()
	checks := 20
	if n, err := strconv.Atoi(os.Getenv("MEM_SOAK")); err == nil && n > 0 {
		checks *= n
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(checks)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// world is a scratch home with a memory.
type world struct {
	t   testing.TB
	dir string
	m   *memory.Memory
}

func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{t: t, dir: filepath.Join(base, "memory")}
	for p, s := range files {
		w.put(p, s)
	}
	m, err := memory.Open(memory.Options{MemoryDir: w.dir, Env: settings.Env{
		Lookup: func(k string) (string, bool) { return "the-session", k == "MEM_SESSION_ID" },
		Home:   base, Cwd: base, StateDir: filepath.Join(base, "state"), ConfigDir: filepath.Join(base, "config"),
		ManagedSettings: filepath.Join(base, "managed.json"),
		Now:             func() time.Time { return time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	t.Cleanup(func() { _ = m.Close() })
	return w
}

func (w *world) put(p, content string) {
	write(w.t, filepath.Join(w.dir, filepath.FromSlash(p)), content)
}

func write(t testing.TB, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) files() map[string]string { return filesOf(w.t, w.dir) }

func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		b, err := os.ReadFile(p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

func (w *world) make(o Options) *Stage {
	w.t.Helper()
	s, err := Make(w.context(), w.m, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// topic is a memory file with a body.
func topic(name, body string, more ...string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: about %s\ntype: project\n%s---\n\n%s\n", name, name, strings.Join(more, ""), body)
}

// some is a memory of a few topics.
func some() map[string]string {
	return map[string]string{
		"MEMORY.md":                  "# Memory\n\n- [alpha](alpha.md) — about alpha\n- [beta](sub/beta.md) — about beta\n- [gamma](gamma.md) — about gamma\n- [kept](kept.md) — pinned\n",
		"alpha.md":                   topic("alpha", "Alpha has a body that is long enough.\n\n## One\n\nfirst\n\n## Two\n\nsecond"),
		"sub/beta.md":                topic("beta", "Beta has another body, which is long as well."),
		"gamma.md":                   topic("gamma", "Gamma goes on about something else entirely."),
		"kept.md":                    topic("kept", "This stays.", "metadata:\n  pinned: true\n"),
		"logs/2026/11/2026-11-29.md": "## 10:00:00 note\n\nsomething\n\n",
		"README.md":                  "for people",
		"CLAUDE.md":                  "rules",
	}
}

func (w *world) context() context.Context {
	if t, ok := w.t.(*testing.T); ok {
		return t.Context()
	}
	return context.Background()
}
