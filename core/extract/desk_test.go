package extract

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mem/core/engine"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/model/modeltest"
	"mem/core/proposal"
	"mem/core/settings"
	"mem/core/text"
	"mem/core/work"
)

// desk is a project with a memory, a conversation and a scripted model.
type desk struct {
	t     testing.TB
	dir   string
	env   settings.Env
	m     *memory.Memory
	house *work.House
	rows  int
}

func envOf(dir string, now func() time.Time) settings.Env {
	return settings.Env{
		Lookup: func(string) (string, bool) { return "", false },
		Home:   filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "p"),
		ConfigDir: filepath.Join(dir, "config"), StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"),
		Now: now,
	}
}

func openDesk(env settings.Env) (*memory.Memory, *work.House, error) {
	m, err := memory.Open(memory.Options{Env: env})
	if err != nil {
		return nil, nil, err
	}
	return m, &work.House{
		Memory: m, Jobs: job.Open(m.StateDirectory(), env), Proposals: proposal.Of(m),
		Choose: func(automatic bool) engine.Choice {
			return engine.Choose(env, m.Config, engine.Have{Host: true}, automatic)
		},
	}, nil
}

// newDesk has a memory whose engine is the scripted server.
func newDesk(t *testing.T, s *modeltest.Server, config string) *desk {
	t.Helper()
	return newDeskAt(t, s, modeltest.Anthropic, config)
}

// newDeskAt speaks one of the APIs.
func newDeskAt(t testing.TB, s *modeltest.Server, api, config string) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir}
	begun, asked := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), atomic.Int64{} // the test and its engine ask at once
	d.env = envOf(dir, func() time.Time { return begun.Add(time.Duration(asked.Add(1)) * time.Second) })
	d.write("p/.git/HEAD", "ref: refs/heads/main\n")
	d.write("home/x", "")
	d.write("config/config.yaml", fmt.Sprintf("engine: provider\nengines:\n  provider:\n    api: %s\n    base_url: %s\n    model: m\n%s", api, s.BaseURL(api), config))
	if d.m, d.house, err = openDesk(d.env); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.m.Close(); err != nil {
			t.Error(err)
		}
	})
	if len(d.m.Warnings) > 0 {
		t.Fatal(d.m.Warnings)
	}
	return d
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	p := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// relative is the memory directory below the desk.
func relative(d *desk) (string, error) {
	rel, err := filepath.Rel(d.dir, d.m.Location.Directory)
	return filepath.ToSlash(rel), err
}

// say adds messages to a conversation, the person's and the agent's in turn.
func (d *desk) say(session string, said ...string) string {
	d.t.Helper()
	p := filepath.Join(d.dir, session+".jsonl")
	f, err := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for i, text := range said {
		role := []string{"user", "assistant"}[i%2]
		parent := "null"
		if d.rows > 0 {
			parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, d.rows)
		}
		d.rows++
		content := fmt.Sprintf("%q", text)
		if strings.HasPrefix(text, "[") {
			content = text
		}
		fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-11-30T11:%02d:00Z","sessionId":%q,"cwd":%q,"version":"2.1.332","message":{"role":%q,"id":"m%d","content":%s}}`+"\n",
			parent, role, d.rows, d.rows%60, session, d.env.Cwd, role, d.rows, content)
	}
	return p
}

// turn ends a turn and runs what that starts.
func (d *desk) turn(session, path string) *job.Record {
	d.t.Helper()
	if got := d.end(session, path); !got.Run {
		d.t.Fatalf("closed: %+v", got)
	}
	return d.run()
}

func (d *desk) run() *job.Record {
	d.t.Helper()
	r := d.create()
	d.doIt(r.ID)
	return d.get(r.ID)
}

func (d *desk) create() *job.Record {
	d.t.Helper()
	r, err := d.house.Jobs.Create(job.Record{Kind: job.Extract, By: "hook"})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *desk) get(id string) *job.Record {
	d.t.Helper()
	r, err := d.house.Jobs.Get(id)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *desk) doIt(id string) {
	ctx, run, err := d.house.Jobs.Begin(context.Background(), id)
	if err != nil {
		d.t.Error(err)
		return
	}
	state, reason := job.Done, ""
	if err := Run(ctx, d.house, run); err != nil {
		state, reason = job.Failed, err.Error()
	}
	if err := run.End(state, func(r *job.Record) { r.Reason = reason }); err != nil {
		d.t.Error(err)
	}
}

// end ends a turn.
func (d *desk) end(session, path string) Decision {
	d.t.Helper()
	got, err := Ended(d.m, Turn{Session: session, Transcript: path}, false)
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

func (d *desk) cursor(session string) Cursor {
	d.t.Helper()
	c, err := CursorOf(d.m, session)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) waiting() []Waiting {
	d.t.Helper()
	s, err := StatusOf(d.m, 10)
	if err != nil {
		d.t.Fatal(err)
	}
	return s.Waiting
}

// text gives a file of the memory, "" without it.
func (d *desk) text(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.m.Location.Directory, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Fatal(err)
	}
	return string(b)
}

// tree lists a folder with the hash of each file.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || e.IsDir() {
			fmt.Fprintln(&b, rel)
			return err
		}
		content, err := os.ReadFile(p)
		fmt.Fprintln(&b, rel, text.Hash(string(content)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
