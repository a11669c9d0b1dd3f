package memory

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/core/settings"
)

// world is a scratch home with a memory directory.
type world struct {
	t    *testing.T
	dir  string
	opt  Options
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{t: t, dir: filepath.Join(base, "memory"), vars: map[string]string{}}
	w.opt = Options{MemoryDir: w.dir, Env: settings.Env{
		Lookup: func(k string) (string, bool) { v, ok := w.vars[k]; return v, ok },
		Home:   base, Cwd: base, StateDir: filepath.Join(base, "state"), ConfigDir: filepath.Join(base, "config"),
		ManagedSettings: filepath.Join(base, "managed.json"),
		Now:             func() time.Time { return time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC) },
	}}
	return w
}

func (w *world) open() *Memory {
	w.t.Helper()
	m, err := Open(w.opt)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = m.Close() })
	return m
}

func (w *world) put(p, content string) {
	w.t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(p string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(p)))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) config(yaml string) {
	w.t.Helper()
	if err := os.MkdirAll(w.opt.Env.ConfigDir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.opt.Env.ConfigDir, "config.yaml"), []byte(yaml), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func note(name, body string) Write {
	return Write{Memory: memdir.Memory{Name: name, Description: "about " + name, Type: "project", Body: body}}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
