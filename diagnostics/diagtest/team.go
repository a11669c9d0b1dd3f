package diagtest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/agentmem"
	"mem/core/memory"
	"mem/core/settings"
	"mem/diagnostics"
)

// agent is whose memory a shared one is.
const agent = "reviewer"

// version takes a file of another version of the memory.
func (c *Case) version(name, data string) bool {
	dir, p, _ := strings.Cut(name, "/")
	for d, files := range map[string]*map[string]string{"base": &c.Base, "team": &c.Team, "mine": &c.Mine} {
		if d != dir || p == "" {
			continue
		}
		if *files == nil {
			*files = map[string]string{}
		}
		(*files)[p] = data
		return true
	}
	return false
}

// Shared reports whether the case's memory is one side of a shared one.
func (c *Case) Shared() bool { return c.InSnapshot || c.Team != nil }

// Layout puts both sides of a shared memory into a project, with what they had in common
// noted, and gives the directory that is checked. Its files are those of the case.
func (c *Case) Layout(t testing.TB, top string, env settings.Env) string {
	t.Helper()
	store := filepath.Join(top, ".claude", "agent-memory", agent)
	snapshot := filepath.Join(top, filepath.FromSlash(agentmem.SnapshotsDir), agent)
	mine, theirs, dir := c.Texts(), c.Team, store
	if c.InSnapshot {
		mine, theirs, dir = c.Mine, c.Texts(), snapshot
	}
	if c.Base != nil {
		replace(t, store, c.Base)
		env := env
		env.Now = func() time.Time { return c.Stamp.Now.Add(-3 * time.Hour) } // before the snapshot
		s, err := agentmem.Open(memory.Options{Env: env, Project: top, Actor: "test"}, agent)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Publish(context.Background(), agentmem.PublishOptions{Confirm: true}); err != nil {
			t.Fatalf("the base of the case: %v", err)
		}
	}
	replace(t, store, mine)
	replace(t, snapshot, theirs)
	if _, given := theirs[agentmem.ManifestName]; !given {
		put(t, snapshot, agentmem.ManifestName, `{"updatedAt": "2026-11-30T10:00:00Z"}`)
	}
	for p, f := range c.Files {
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(p)), f.ModTime, f.ModTime); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func replace(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for p, s := range files {
		put(t, dir, p, s)
	}
}

func put(t testing.TB, dir, p, s string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(s), 0o644); err != nil {
		t.Fatal(err)
	}
}

// team gives the other side of the case's memory, nil where it has none. files are those
// of the memory by now.
func (c *Case) team(t testing.TB, files fs.FS) *diagnostics.Team {
	t.Helper()
	if !c.Shared() {
		return nil
	}
	if c.laid == nil {
		c.laid = c.layOut(t)
	}
	s, inSnapshot, err := agentmem.OpenAt(memory.Options{Env: c.laid.env, Project: c.laid.top, Actor: "test"}, c.laid.dir)
	if err != nil || s == nil {
		t.Fatalf("%s is no side of a shared memory: %v", c.laid.dir, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	over := map[string]string{}
	if !inSnapshot {
		err = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(files, p)
			over[p] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return diagnostics.NewTeam(s, inSnapshot, over)
}

// laid is where both sides of a case lie on disk.
type laid struct {
	top, dir string
	env      settings.Env
}

func (c *Case) layOut(t testing.TB) *laid {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(home, "project")
	env := settings.Env{Home: home, Cwd: top, ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"),
		ManagedSettings: filepath.Join(home, "managed.json"), Lookup: func(string) (string, bool) { return "", false },
		Now: func() time.Time { return c.Stamp.Now }}
	put(t, top, "README.md", "")
	return &laid{top: top, dir: c.Layout(t, top, env), env: env}
}
