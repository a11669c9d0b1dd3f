package extract

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/engine"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/model/modeltest"
	"mem/core/proposal"
	"mem/core/settings"
	"mem/core/work"
)

// desk is a project with a memory, a conversation and a scripted model.
type desk struct {
	t     *testing.T
	dir   string
	env   settings.Env
	m     *memory.Memory
	house *work.House
	rows  int
}

// newDesk has a memory whose engine is the scripted server.
func newDesk(t *testing.T, s *modeltest.Server, config string) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	d.env = settings.Env{
		Lookup: func(string) (string, bool) { return "", false },
		Home:   filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "p"),
		ConfigDir: filepath.Join(dir, "config"), StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"),
		Now: func() time.Time { now = now.Add(time.Second); return now },
	}
	d.write("p/.git/HEAD", "ref: refs/heads/main\n")
	d.write("home/x", "")
	d.write("config/config.yaml", fmt.Sprintf("engine: provider\nengines:\n  provider:\n    base_url: %s\n    model: m\n%s", s.URL, config))
	d.m, err = memory.Open(memory.Options{Env: d.env})
	if err != nil {
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
	d.house = &work.House{
		Memory: d.m, Jobs: job.Open(d.m.StateDirectory(), d.env), Proposals: proposal.Of(d.m),
		Choose: func(automatic bool) engine.Choice {
			return engine.Choose(d.env, d.m.Config, engine.Have{Host: true}, automatic)
		},
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
	got, err := Ended(d.m, Turn{Session: session, Transcript: path}, func() bool { return Running(d.house) }, false)
	if err != nil {
		d.t.Fatal(err)
	}
	if !got.Run {
		d.t.Fatalf("closed: %+v", got)
	}
	return d.run()
}

func (d *desk) run() *job.Record {
	d.t.Helper()
	r, err := d.house.Jobs.Create(job.Record{Kind: job.Extract, By: "hook"})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, run, err := d.house.Jobs.Begin(context.Background(), r.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	state, reason := job.Done, ""
	if err := Run(ctx, d.house, run); err != nil {
		state, reason = job.Failed, err.Error()
	}
	if err := run.End(state, func(r *job.Record) { r.Reason = reason }); err != nil {
		d.t.Fatal(err)
	}
	if r, err = d.house.Jobs.Get(r.ID); err != nil {
		d.t.Fatal(err)
	}
	return r
}

const mocks = "---\nname: No mocks for the database\ndescription: Tests of this project run against a real database, never a mock\ntype: feedback\n---\n\nNever mock the database in tests.\n\nWhy: a mock hid a broken migration.\nHow to apply: start the container of the test suite.\n"

func TestATurnBecomesAMemory(t *testing.T) {
	s := modeltest.Start(t,
		modeltest.Call("Glob", modeltest.In{"pattern": "*.md"}).And("Grep", modeltest.In{"pattern": "mock"}),
		modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": mocks}),
		modeltest.Say("no-mocks.md: the person corrected how tests reach the database."),
	)
	d := newDesk(t, s, "")
	path := d.say("one", "never mock the database", "I will not.")
	r := d.turn("one", path)
	if r.State != job.Done || r.Change == "" || r.Turns != 3 || r.Engine != "provider" {
		t.Fatalf("%+v", r)
	}
	got, err := d.m.Read(t.Context(), "no-mocks.md", "")
	if err != nil || !strings.Contains(got.Text, "Never mock the database") || !strings.Contains(got.Text, "originSessionId: one") {
		t.Errorf("%+v, %v", got, err)
	}
	index, err := d.m.Read(t.Context(), "MEMORY.md", "")
	if err != nil || !strings.Contains(index.Text, "(no-mocks.md)") {
		t.Errorf("%+v, %v", index, err)
	}
	first := s.Requests()[0]
	if !first.Contains("never mock the database") || !strings.Contains(first.Prompt(), "All of it is new to you") || !first.Has("Bash") {
		t.Errorf("asked: %s", first.Prompt())
	}
	c, err := stateOf(d.m.StateDirectory()).cursor("one")
	if err != nil || c.By != r.ID || c.Leaf.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
	if w, err := stateOf(d.m.StateDirectory()).waiting(); err != nil || len(w) != 0 {
		t.Errorf("still waiting: %+v, %v", w, err)
	}
	// Nothing was said since: no agent runs.
	if r := d.turn("one", path); r.State != job.Done || !strings.Contains(r.Report, "nothing was said") || s.Left() != 0 {
		t.Errorf("%+v", r)
	}
}
