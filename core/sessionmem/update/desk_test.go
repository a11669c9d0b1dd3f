package update

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
	"mem/core/sessionmem"
	"mem/core/settings"
	"mem/core/transcript"
	"mem/core/work"
)

// desk is a session with a scripted model.
type desk struct {
	t     *testing.T
	dir   string
	m     *memory.Memory
	house *work.House
	x     *transcript.Session
	rows  int
	last  string
	now   time.Time
}

func newDesk(t *testing.T, s *modeltest.Server, api, config string) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	env := settings.Env{
		Lookup: func(string) (string, bool) { return "", false },
		Home:   filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "p"),
		ConfigDir: filepath.Join(dir, "config"), StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"),
		Now: func() time.Time { return d.now },
	}
	d.write("p/.git/HEAD", "ref: refs/heads/main\n")
	d.write("home/x", "")
	d.write("config/config.yaml", fmt.Sprintf("engine: provider\nengines:\n  provider:\n    api: %s\n    base_url: %s\n    model: m\n%s", api, s.BaseURL(api), config))
	if d.m, err = memory.Open(memory.Options{Env: env}); err != nil {
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
	d.house = &work.House{Memory: d.m, Jobs: job.Open(d.m.StateDirectory(), env), Proposals: proposal.Of(d.m),
		Choose: func(automatic bool) engine.Choice {
			return engine.Choose(env, d.m.Config, engine.Have{Host: true}, automatic)
		}}
	d.x = At(d.m, "one", filepath.Join(dir, "sessions", "one.jsonl"), "")
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

func (d *desk) row(kind, rest string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.x.Path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(d.x.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	parent := "null"
	if d.last != "" {
		parent = fmt.Sprintf("%q", d.last)
	}
	d.rows++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", d.rows)
	if strings.Contains(rest, "compact_boundary") {
		parent = "null"
	}
	fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"timestamp":"2026-11-30T11:%02d:00Z","sessionId":"one","cwd":"/p","version":"1",%s}`+"\n", parent, kind, id, d.rows%60, rest)
	d.last = id
}

// turn is a prompt and an answer, after which the context has so many tokens.
func (d *desk) turn(prompt string, tokens int) {
	d.t.Helper()
	d.row("user", fmt.Sprintf(`"message":{"role":"user","content":%q}`, prompt))
	d.row("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"so"}],"usage":{"input_tokens":%d,"output_tokens":1}}`, d.rows, tokens-1))
}

// tools is an answer that calls a tool, and its result.
func (d *desk) tools(tokens int) {
	d.t.Helper()
	id := fmt.Sprint("t", d.rows)
	d.row("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":"/p/x"}}],"usage":{"input_tokens":%d,"output_tokens":1}}`, d.rows, id, tokens-1))
	d.row("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}`, id))
}

func (d *desk) check() Decision {
	d.t.Helper()
	got, err := Check(context.Background(), d.m, d.x, false)
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

func (d *desk) run() (*job.Record, string, error) {
	d.t.Helper()
	r, err := d.house.Jobs.Create(job.Record{Kind: job.SessionMemory, By: byHook, Session: "one"})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, run, err := d.house.Jobs.Begin(context.Background(), r.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	words, failed := Run(ctx, d.house, run, d.x, false)
	if err := run.End(job.Done, func(*job.Record) {}); err != nil {
		d.t.Fatal(err)
	}
	if r, err = d.house.Jobs.Get(r.ID); err != nil {
		d.t.Fatal(err)
	}
	return r, words, failed
}

func (d *desk) summary() string {
	d.t.Helper()
	f, err := sessionmem.Read(d.x)
	if err != nil {
		d.t.Fatal(err)
	}
	return f.Text
}

// filled is the template with a body in each of the named sections.
func filled(bodies map[string]string) string {
	text := sessionmem.Template()
	for _, s := range sessionmem.Sections {
		if b := bodies[s.Title]; b != "" {
			text = strings.Replace(text, "_"+s.About+"_\n", "_"+s.About+"_\n"+b+"\n", 1)
		}
	}
	return text
}

func writes(bodies map[string]string) modeltest.Step {
	return modeltest.Call("Write", modeltest.In{"file_path": "/session/summary.md", "content": filled(bodies)})
}

var read = modeltest.Call("Read", modeltest.In{"file_path": "/session/summary.md"})
