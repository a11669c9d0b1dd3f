package extract

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/fork"
	"mem/core/job"
	"mem/core/model/modeltest"
	"mem/core/spend"
)

const mocks = "---\nname: No mocks for the database\ndescription: Tests of this project run against a real database, never a mock\ntype: feedback\n---\n\nNever mock the database in tests.\n\nWhy: a mock hid a broken migration.\nHow to apply: start the container of the test suite.\n"

func TestATurnBecomesAMemory(t *testing.T) {
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		t.Run(api, func(t *testing.T) { turnBecomesAMemory(t, api) })
	}
}

func turnBecomesAMemory(t *testing.T, api string) {
	s := modeltest.Start(t,
		modeltest.Call("Glob", modeltest.In{"pattern": "*.md"}).And("Grep", modeltest.In{"pattern": "mock"}),
		modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": mocks}),
		modeltest.Say("no-mocks.md: the person corrected how tests reach the database."),
	)
	d := newDeskAt(t, s, api, "")
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
	for _, told := range []string{"You have 5 turns", "in the first turn, read everything", "in the second, make all changes", "Do not spend a turn on checking"} {
		if !strings.Contains(first.Prompt(), told) {
			t.Errorf("the agent is not told %q", told)
		}
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

func TestNothingToKeep(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("Nothing to keep."))
	d := newDesk(t, s, "")
	path := d.say("one", "what time is it", "Late.")
	r := d.turn("one", path)
	if r.State != job.Done || r.Change != "" || r.Proposal != "" || !strings.Contains(r.Report, "nothing was kept") || d.cursor("one").By != r.ID {
		t.Errorf("%+v", r)
	}
	if d.text("MEMORY.md") != "" {
		t.Error("memory changed")
	}
}

// TestOnlyWhatIsNew: the second run is told where its part begins, and what topics there
// are, and has the first part from the provider's cache.
func TestOnlyWhatIsNew(t *testing.T) {
	s := modeltest.Start(t,
		modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": mocks}), modeltest.Say("kept"),
		modeltest.Say("Nothing to keep."),
	)
	d := newDesk(t, s, "")
	long := strings.Repeat("and so on it goes. ", 1200) // a prefix shorter than 1,024 tokens is never cached
	path := d.say("one", "never mock the database "+long, "I will not.")
	d.turn("one", path)
	d.say("one", "and now the next thing", "Yes.")
	r := d.turn("one", path)
	if r.State != job.Done || len(s.Requests()) != 3 {
		t.Fatalf("%+v", r)
	}
	first, second := s.Requests()[0], s.Requests()[2]
	p := second.Prompt()
	if !strings.Contains(p, `begins with the message "and now the next thing"`) || strings.Contains(p, "All of it is new") || !strings.Contains(p, "no-mocks.md") {
		t.Errorf("asked: %s", p)
	}
	if r.Usage.CacheRead == 0 {
		t.Errorf("nothing came from the cache: %+v", r.Usage)
	}
	// What both share is the same to the byte, but for the marks of the cache.
	shared := first.Messages[:len(first.Messages)-1]
	if len(shared) != 2 || first.System != second.System || len(first.Tools) != len(second.Tools) {
		t.Fatalf("%d messages are shared, %d tools and %d", len(shared), len(first.Tools), len(second.Tools))
	}
	for i, m := range shared {
		for j, b := range m.Blocks {
			if unmarked(b.Raw) != unmarked(second.Messages[i].Blocks[j].Raw) {
				t.Errorf("message %d differs:\n%.300s\n%.300s", i, b.Raw, second.Messages[i].Blocks[j].Raw)
			}
		}
	}
	for i := range first.Tools {
		if a, b := first.Tools[i], second.Tools[i]; a.Name != b.Name || a.Description != b.Description || string(a.Schema) != string(b.Schema) {
			t.Errorf("the tool %s differs", a.Name)
		}
	}
}

func unmarked(raw []byte) string {
	return strings.NewReplacer(`"cache_control":{"type":"ephemeral"},`, "", `,"cache_control":{"type":"ephemeral"}`, "").Replace(string(raw))
}

func TestDailyLog(t *testing.T) {
	s := modeltest.Start(t,
		modeltest.Call("Write", modeltest.In{"file_path": "/memory/topic.md", "content": mocks}).
			And("Write", modeltest.In{"file_path": "/memory/logs/2026/11/2026-11-30.md", "content": "## 12:00 No mocks\n\nTests use a real database.\n"}),
		modeltest.Say("logged"),
	)
	d := newDesk(t, s, "memory:\n  daily_log: true\n")
	if !d.m.DailyLog() {
		t.Fatal("no daily log")
	}
	r := d.turn("one", d.say("one", "never mock the database", "I will not."))
	if r.Change == "" || !strings.Contains(d.text("logs/2026/11/2026-11-30.md"), "Tests use a real database") {
		t.Errorf("%+v", r)
	}
	if d.text("topic.md") != "" || len(r.Refused) == 0 {
		t.Errorf("a topic was written, or nothing says that it was refused: %+v", r.Refused)
	}
	if p := s.Requests()[0].Prompt(); !strings.Contains(p, "/memory/logs/2026/11/2026-11-30.md") {
		t.Errorf("asked: %s", p)
	}
}

func TestReview(t *testing.T) {
	s := modeltest.Start(t, modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": mocks}), modeltest.Say("kept"))
	d := newDesk(t, s, "jobs:\n  extract:\n    policy: review\n")
	r := d.turn("one", d.say("one", "never mock the database", "I will not."))
	if r.Change != "" || r.Proposal == "" || d.text("no-mocks.md") != "" || d.cursor("one").By != r.ID {
		t.Errorf("%+v", r)
	}
	p, err := d.house.Proposals.Get(t.Context(), r.Proposal)
	if err != nil || p.Origin != "one" || len(p.Units) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestLimit: what an agent left that was not through waits for a person.
func TestLimit(t *testing.T) {
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.Turn() == 2 {
			return modeltest.Call("Write", modeltest.In{"file_path": "/memory/no-mocks.md", "content": mocks})
		}
		return modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"})
	})
	d := newDesk(t, s, "jobs:\n  extract:\n    max_turns: 3\n")
	r := d.turn("one", d.say("one", "never mock the database", "I will not."))
	if n := len(s.Requests()); n != 3 || r.Turns != 3 || r.End != string(fork.EndTurns) || r.State != job.Done || r.Proposal == "" || d.text("no-mocks.md") != "" {
		t.Errorf("%d requests: %+v", n, r)
	}
}

// TestTimeLimit: a model that never ends, silent or at work, is ended by the wall limit;
// what it left is not applied, and what it used is in the ledger.
func TestTimeLimit(t *testing.T) {
	for name, step := range map[string]func(modeltest.Request) modeltest.Step{
		"silent": func(modeltest.Request) modeltest.Step { return modeltest.Say("late").After(time.Minute) },
		"stalls": func(modeltest.Request) modeltest.Step {
			return modeltest.Say("a long text that never comes to its end").StallAt(400)
		},
		"at work": func(r modeltest.Request) modeltest.Step {
			return modeltest.Call("Write", modeltest.In{"file_path": fmt.Sprintf("/memory/n%d.md", r.Turn()), "content": mocks}).After(50 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.StartFunc(t, step)
			d := newDesk(t, s, "budgets:\n  job:\n    time: 1s\njobs:\n  extract:\n    max_turns: 1000\n")
			began := time.Now()
			r := d.turn("one", d.say("one", "never mock the database", "I will not."))
			if took := time.Since(began); took < time.Second || took > 3*time.Second {
				t.Errorf("it took %s", took)
			}
			if r.State != job.Done || r.End != string(fork.EndWall) || !strings.Contains(r.Reason+r.Report, "time limit") || r.Change != "" || r.Usage.Requests == 0 || r.Usage.Tokens() < 500 {
				t.Errorf("%+v", r)
			}
			if worked := name == "at work"; worked != (r.Proposal != "") || worked != (len(r.Touched) > 2) {
				t.Errorf("%q, touched %v", r.Proposal, r.Touched)
			}
			if d.text("MEMORY.md") != "" || d.text("n1.md") != "" || d.text("n2.md") != "" {
				t.Error("something of a run that was not through is in memory")
			}
			rep, err := spend.Open(d.env).Report(spend.Options{})
			if err != nil || rep.Calls != r.Usage.Requests || rep.Total.Tokens() != r.Usage.Tokens() {
				t.Errorf("the ledger has %+v, %v; the record %+v", rep, err, r.Usage)
			}
			if left, err := filepath.Glob(filepath.Join(d.m.StateDirectory(), "stages", "*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if Running(d.m) != "" {
				t.Error("it still counts as running")
			}
		})
	}
}

func TestEngineFails(t *testing.T) {
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.Contains("poison") {
			return modeltest.Fail(400, "prompt is too long")
		}
		return modeltest.Say("Nothing to keep.")
	})
	d := newDesk(t, s, "")
	bad, good := d.say("bad", "poison", "Yes."), d.say("good", "tea", "Yes.")
	d.end("bad", bad)
	r := d.turn("good", good)
	if r.State != job.Failed || !strings.Contains(r.Reason, "bad") || !strings.Contains(r.Reason, "too long") {
		t.Errorf("%+v", r)
	}
	if c := d.cursor("bad"); !c.Leaf.IsZero() {
		t.Errorf("the cursor moved: %+v", c)
	}
	if c := d.cursor("good"); c.Leaf.IsZero() {
		t.Error("the session that waited behind was not served")
	}
	if w := d.waiting(); len(w) != 1 || w[0].Session != "bad" || w[0].Failed != 1 {
		t.Errorf("%+v", w)
	}
	for range maxFailed - 1 {
		r = d.run()
	}
	if w := d.waiting(); len(w) != 0 || !strings.Contains(r.Reason, "waits no more") {
		t.Errorf("%+v; %s", w, r.Reason)
	}
	if got := d.end("bad", bad); !got.Run || len(d.waiting()) != 1 {
		t.Errorf("its next turn does not ask again: %+v", got)
	}
}

func TestAnEngineThatIsDownEndsTheRun(t *testing.T) {
	s := modeltest.Start(t, modeltest.Fail(401, "invalid x-api-key").Forever())
	d := newDesk(t, s, "")
	for i := range 6 {
		id := fmt.Sprint("s", i)
		d.end(id, d.say(id, "tea", "Yes."))
	}
	if r := d.run(); r.State != job.Failed || len(s.Requests()) != maxFailures || len(d.waiting()) != 6 {
		t.Errorf("%d requests, %d wait: %+v", len(s.Requests()), len(d.waiting()), r)
	}
}

func TestCancel(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("late").After(time.Minute))
	d := newDesk(t, s, "")
	path := d.say("one", "never mock the database", "I will not.")
	d.end("one", path)
	r := d.create()
	done := make(chan struct{})
	go func() { defer close(done); d.doIt(r.ID) }()
	s.Await(1)
	if d.end("one", path).Gate != "running" {
		t.Error("nobody sees that it runs")
	}
	began := time.Now()
	if _, err := d.house.Jobs.Cancel(r.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("it goes on")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s to end", took)
	}
	if c := d.cursor("one"); !c.Leaf.IsZero() || len(d.waiting()) != 1 {
		t.Errorf("%+v, %+v", c, d.waiting())
	}
	if Running(d.m) != "" {
		t.Error("it still counts as running")
	}
}

// TestATurnEndsMeanwhile: one run serves what comes while it works.
func TestATurnEndsMeanwhile(t *testing.T) {
	var d *desk
	var two string
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.N == 1 {
			if got := d.end("two", two); got.Gate != "running" {
				t.Errorf("%+v", got)
			}
		}
		return modeltest.Say("Nothing to keep.")
	})
	d = newDesk(t, s, "")
	one := d.say("one", "tea", "Yes.")
	two = d.say("two", "coffee", "Yes.")
	r := d.turn("one", one)
	if len(s.Requests()) != 2 || len(r.Sessions) != 2 || d.cursor("two").By != r.ID {
		t.Errorf("%+v", r)
	}
}

// TestGone: a session whose transcript is no more waits no more.
