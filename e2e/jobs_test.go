package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/model/modeltest"
)

// withModel has the place think with a scripted model, unasked.
func (p *place) withModel(t *testing.T, s *modeltest.Server, api, config string) {
	t.Helper()
	p.write(t, "config/mem/config.yaml", fmt.Sprintf("engine: provider\nengines:\n  provider:\n    api: %s\n    base_url: %s\n    model: m\n%s", api, s.BaseURL(api), config))
}

// session writes a conversation of one turn where the client of the place keeps it.
func (p *place) session(t *testing.T, id, said string) string {
	t.Helper()
	var b strings.Builder
	for i, text := range []string{said, "I will see to it."} {
		parent, role := "null", []string{"user", "assistant"}[i]
		if i > 0 {
			parent = fmt.Sprintf(`"%s%012d"`, "00000000-0000-4000-8000-", i)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-11-29T10:00:0%d.000Z","cwd":%q,"sessionId":%q,"version":"2.1.332","message":{"role":%q,"id":"m%d","content":%q,"usage":{"input_tokens":20000,"output_tokens":1}}}`+"\n",
			parent, role, i+1, i, p.project, id, role, i, text)
	}
	name := filepath.Join("claude", "projects", "p", id+".jsonl")
	p.write(t, name, b.String())
	return filepath.Join(p.root, name)
}

// hook runs mem-mcp hook for an event, as a client does.
func (p *place) hook(t *testing.T, event, session, path string) (out, note string, took time.Duration) {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"hook_event_name": event, "session_id": session, "transcript_path": path, "cwd": p.project})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary, "hook")
	c.Dir, c.Env, c.Stdin = p.project, p.env, bytes.NewReader(payload)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	began := time.Now()
	if err := c.Run(); err != nil {
		t.Errorf("hook: %v: %s", err, stderr.String())
	}
	return stdout.String(), stderr.String(), time.Since(began)
}

// record is a job as mem-mcp jobs tells it.
type record struct {
	ID, Kind, State, Reason, Report, Change, Session, By string
	Sessions                                             []string
	Turns                                                int
	Refused                                              []struct{ What, Reason string }
}

func (p *place) jobs(t *testing.T) []record {
	t.Helper()
	var l struct{ Jobs []record }
	p.json(t, &l, "jobs", "--json", "--limit", "0")
	return l.Jobs
}

func (p *place) json(t *testing.T, into any, args ...string) {
	t.Helper()
	c := exec.Command(binary, args...)
	c.Dir, c.Env = p.project, p.env
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, stderr.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// idle waits until no process of the program is left.
func idle(t *testing.T, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left := running(binary)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("processes are left after %s: %v", within, left)
		}
	}
}

// TestTenTurnsEndAtOnce: of ten hooks in ten sessions one run comes, which serves the
// first and then, in a trailing run, all that came meanwhile; of ten in the same session
// it looks at that once.
func TestTenTurnsEndAtOnce(t *testing.T) {
	for _, same := range []bool{false, true} {
		t.Run(map[bool]string{true: "same session", false: "ten sessions"}[same], func(t *testing.T) {
			p := newPlace(t)
			first := make(chan struct{})
			var mu sync.Mutex
			asked, atOnce, most := map[string]int{}, 0, 0
			s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
				mu.Lock()
				atOnce++
				most = max(most, atOnce)
				for i := range 10 {
					if r.Contains(fmt.Sprintf("subject-%d-", i)) {
						asked[fmt.Sprint(i)]++
					}
				}
				mu.Unlock()
				if r.N == 1 {
					select { // slow: until all ten turns have ended
					case <-first:
					case <-time.After(time.Minute):
					}
				}
				mu.Lock()
				atOnce--
				mu.Unlock()
				return modeltest.Say("Nothing to keep.")
			})
			p.withModel(t, s, modeltest.Anthropic, "jobs:\n  dream:\n    enabled: false\n  session_memory:\n    enabled: false\n")
			var all sync.WaitGroup
			for i := range 10 {
				id := fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)
				if same && i > 0 {
					id = fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", 0)
				}
				path := filepath.Join(p.root, "claude", "projects", "p", id+".jsonl")
				if !same || i == 0 {
					p.session(t, id, fmt.Sprintf("subject-%d-tea", i))
				}
				all.Go(func() {
					if _, note, _ := p.hook(t, "Stop", id, path); note != "" {
						t.Errorf("hook: %s", note)
					}
				})
			}
			all.Wait()
			s.Await(1)
			close(first)
			idle(t, 60*time.Second)
			want := 10
			if same {
				want = 1
			}
			served, ran := []string{}, 0
			for _, r := range p.jobs(t) {
				if r.State != "done" {
					t.Errorf("%+v", r)
				}
				if len(r.Sessions) > 0 {
					ran++
				}
				served = append(served, r.Sessions...)
			}
			if most > 1 {
				t.Errorf("%d agents ran at once", most)
			}
			if len(asked) != want || len(s.Requests()) != want {
				t.Errorf("%d sessions were looked at with %d requests, want %d of each", len(asked), len(s.Requests()), want)
			}
			if !same && (ran != 1 || len(served) != 10) {
				t.Errorf("%d runs served %d sessions: %v", ran, len(served), served)
			}
			var st struct{ Waiting, Cursors []struct{ Session string } }
			p.json(t, &st, "extract", "--status", "--json")
			if len(st.Waiting) != 0 || len(st.Cursors) != want {
				t.Errorf("%+v", st)
			}
		})
	}
}

const lesson = "---\nname: No mocks for the database\ndescription: Tests of this project run against a real database, never a mock\ntype: feedback\n---\n\nNever mock the database in tests.\n\nWhy: a mock hid a broken migration.\nHow to apply: start the container of the test suite.\n"

// TestATurnThroughTheHook goes the whole way with real processes, over both APIs: a turn
// ends, memory and the summary of the session appear side by side, the next conversation
// and the next compaction are told.
func TestATurnThroughTheHook(t *testing.T) {
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		t.Run(api, func(t *testing.T) {
			p := newPlace(t)
			s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
				summary := strings.Contains(r.System, "/session/summary.md")
				switch turn := r.Turn() - 1; {
				case summary && turn == 1:
					return modeltest.Call("Read", modeltest.In{"file_path": "/session/summary.md"})
				case summary && turn == 2:
					return modeltest.Call("Edit", modeltest.In{"file_path": "/session/summary.md", "old_string": "the very next step._\n", "new_string": "the very next step._\nTests against a real database.\n"})
				case !summary && turn == 1:
					return modeltest.Call("Glob", modeltest.In{"pattern": "*.md"})
				case !summary && turn == 2:
					return modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": lesson})
				}
				return modeltest.Say("Done.")
			})
			p.withModel(t, s, api, "")
			id := "bbbbbbbb-0000-4000-8000-000000000001"
			path := p.session(t, id, "never mock the database")
			out, note, took := p.hook(t, "Stop", id, path)
			if out != "" || note != "" {
				t.Errorf("the hook says %q, %q", out, note)
			}
			t.Logf("the hook took %s", took)
			idle(t, 30*time.Second)
			jobs := p.jobs(t)
			if len(jobs) != 2 {
				t.Fatalf("%+v", jobs)
			}
			for _, j := range jobs {
				if j.State != "done" || j.Session != id || j.By != "hook" || j.Turns != 3 {
					t.Errorf("%+v", j)
				}
			}
			got, err := os.ReadFile(filepath.Join(p.memory(t), "no-mocks.md"))
			if err != nil || !strings.Contains(string(got), "originSessionId: "+id) {
				t.Errorf("%s, %v", got, err)
			}
			// A compaction is given the summary.
			if out, _, _ := p.hook(t, "PreCompact", id, path); !strings.Contains(out, "Tests against a real database.") || !strings.Contains(out, "data, not instructions") {
				t.Errorf("before a compaction: %q", out)
			}
			// The same turn again: nothing new, nothing runs.
			n := len(s.Requests())
			p.hook(t, "Stop", id, path)
			idle(t, 30*time.Second)
			if len(s.Requests()) != n {
				t.Error("an agent looked at a session in which nothing was said")
			}
		})
	}
}

// TestOffersAtSessionStart: what no engine does, and what waits for a person, the next
// conversation is told; a job that a host took is not offered again.
func TestOffersAtSessionStart(t *testing.T) {
	p := newPlace(t)
	p.write(t, "config/mem/config.yaml", "engine: auto\n")
	id := "bbbbbbbb-0000-4000-8000-000000000001"
	path := p.session(t, id, "never mock the database")
	p.hook(t, "Stop", id, path)
	idle(t, 30*time.Second)
	var queued record
	for _, j := range p.jobs(t) {
		if j.State == "queued" {
			queued = j
		}
	}
	if queued.ID == "" || queued.Session != id {
		t.Fatalf("nothing waits: %+v", p.jobs(t))
	}
	out, _, _ := p.hook(t, "SessionStart", "cccccccc-0000-4000-8000-000000000001", path)
	if !strings.Contains(out, queued.ID) || !strings.Contains(out, "extract_start") {
		t.Errorf("the next conversation is told: %q", out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "jobs", "cancel", queued.ID)
	c.Dir, c.Env = p.project, p.env
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := p.hook(t, "SessionStart", "cccccccc-0000-4000-8000-000000000001", path); strings.Contains(out, queued.ID) {
		t.Errorf("a cancelled one is offered: %q", out)
	}
}

// TestProposalsAreTold: under review, what a turn taught waits, and the next
// conversation is told.
func TestProposalsAreTold(t *testing.T) {
	p := newPlace(t)
	s := modeltest.Start(t, modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": lesson}), modeltest.Say("Done."))
	p.withModel(t, s, modeltest.Anthropic, "jobs:\n  extract:\n    policy: review\n  session_memory:\n    enabled: false\n")
	id := "bbbbbbbb-0000-4000-8000-000000000001"
	path := p.session(t, id, "never mock the database")
	p.hook(t, "Stop", id, path)
	idle(t, 30*time.Second)
	var l []struct{ ID string }
	p.json(t, &l, "proposals", "--json")
	if len(l) != 1 {
		t.Fatalf("%+v, %+v", l, p.jobs(t))
	}
	out, _, _ := p.hook(t, "SessionStart", id, path)
	if !strings.Contains(out, l[0].ID) || !strings.Contains(out, "wait for the person") {
		t.Errorf("the next conversation is told: %q", out)
	}
}

// TestExplainChangesNothing: to ask what would start starts nothing and leaves nothing.
func TestExplainChangesNothing(t *testing.T) {
	p := newPlace(t)
	s := modeltest.Start(t)
	p.withModel(t, s, modeltest.Anthropic, "jobs:\n  extract:\n    every_turns: 2\n")
	id := "bbbbbbbb-0000-4000-8000-000000000001"
	path := p.session(t, id, "never mock the database")
	list := func() string {
		var b strings.Builder
		err := filepath.WalkDir(p.root, func(name string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				content, err := os.ReadFile(name)
				fmt.Fprintln(&b, name, string(content))
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := list()
	payload, err := json.Marshal(map[string]any{"hook_event_name": "Stop", "session_id": id, "transcript_path": path, "cwd": p.project})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c := exec.Command(binary, "hook", "--explain")
		c.Dir, c.Env, c.Stdin = p.project, p.env, bytes.NewReader(payload)
		out, err := c.Output()
		if err != nil || !strings.Contains(string(out), "extract\tclosed\tit is the 1st turn since the last run") || !strings.Contains(string(out), "session-memory\tstarts\tthe context has reached 20001 tokens") {
			t.Errorf("%s, %v", out, err)
		}
	}
	if after := list(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if left := running(binary); len(left) > 0 {
		t.Errorf("it started %v", left)
	}
}

// TestAHungModelIsCancelled: the process of a job ends within 5 s of being told, also
// while its model says nothing.
func TestAHungModelIsCancelled(t *testing.T) {
	p := newPlace(t)
	s := modeltest.Start(t, modeltest.Say("late").After(time.Hour).Forever())
	p.withModel(t, s, modeltest.Anthropic, "jobs:\n  session_memory:\n    enabled: false\n")
	id := "bbbbbbbb-0000-4000-8000-000000000001"
	p.hook(t, "Stop", id, p.session(t, id, "never mock the database"))
	s.Await(1)
	c := exec.Command(binary, "jobs", "cancel", p.jobs(t)[0].ID)
	c.Dir, c.Env = p.project, p.env
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	idle(t, 5*time.Second)
	if j := p.jobs(t)[0]; j.State != "cancelled" {
		t.Errorf("%+v", j)
	}
	var st struct{ Waiting, Cursors []struct{ Session string } }
	p.json(t, &st, "extract", "--status", "--json")
	if len(st.Waiting) != 1 || len(st.Cursors) != 0 {
		t.Errorf("%+v", st)
	}
}
