package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mem/core/memory"
	"mem/core/project"
	"mem/core/settings"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// desk is a home with a project whose client keeps transcripts.
type desk struct {
	t    *testing.T
	env  settings.Env
	vars map[string]string
	now  time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, vars: map[string]string{}, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	d.env = envOf(home, func() time.Time { return d.now }, func(k string) (string, bool) { v, ok := d.vars[k]; return v, ok })
	if err := os.MkdirAll(d.env.Cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

func envOf(home string, now func() time.Time, lookup func(string) (string, bool)) settings.Env {
	return settings.Env{
		Lookup: lookup, Now: now, Home: home, Cwd: filepath.Join(home, "project"),
		ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"),
		ManagedSettings: filepath.Join(home, "managed.json"),
	}
}

func (d *desk) open(o Options) *Sessions {
	d.t.Helper()
	m, err := memory.Open(memory.Options{Env: d.env})
	if err != nil {
		d.t.Fatal(err)
	}
	s := Open(m, o)
	d.t.Cleanup(func() {
		if err := errors.Join(s.Close(), m.Close()); err != nil {
			d.t.Error(err)
		}
	})
	return s
}

func (d *desk) folder(cwd string) string {
	return filepath.Join(d.env.Home, ".claude", "projects", project.Slug(cwd))
}

// put writes a transcript of the project, last written some time ago.
func (d *desk) put(id, content string, ago time.Duration) string {
	d.t.Helper()
	path := filepath.Join(d.folder(d.env.Cwd), id+".jsonl")
	d.write(path, content, ago)
	return path
}

func (d *desk) write(path, content string, ago time.Duration) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
	at := d.now.Add(-ago)
	if err := os.Chtimes(path, at, at); err != nil {
		d.t.Fatal(err)
	}
}

// talk is a conversation as rows of a transcript: prompts and answers in turn.
func talk(id, cwd string, said ...string) string {
	var b strings.Builder
	parent := "null"
	for i, text := range said {
		role := []string{"user", "assistant"}[i%2]
		content, _ := json.Marshal([]map[string]string{{"type": "text", "text": text}})
		uuid := uuidOf(id, i)
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"id":"msg_%d","content":%s},"uuid":%q,"timestamp":"2026-11-29T10:%02d:00.000Z","cwd":%q,"sessionId":%q,"version":"2.1.332","gitBranch":"main"}`+"\n",
			parent, role, role, i, content, uuid, i%60, cwd, id)
		parent = fmt.Sprintf("%q", uuid)
	}
	return b.String()
}

func uuidOf(id string, i int) string {
	return fmt.Sprintf("%.8s-0000-4000-8000-%012d", id+"00000000", i)
}

const (
	first  = "aaaaaaaa-0000-4000-8000-000000000001"
	second = "bbbbbbbb-0000-4000-8000-000000000002"
)

// token has the shape of a secret and is none.
const token = "ghp_1B4nK7qXw9" + "RtYp2LmZc8VdHs5JfGa3TeUoQi"
