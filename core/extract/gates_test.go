package extract

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/job"
	"mem/core/model/modeltest"
)

func TestTheAgentWroteMemoryItself(t *testing.T) {
	call := func(id, name, input string) string {
		return fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":%q,"input":%s}]`, id, name, input)
	}
	result := func(id string, failed bool) string {
		return fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"is_error":%v,"content":"ok"}]`, id, failed)
	}
	for _, c := range []struct {
		name, tool, input string
		failed, runs      bool
	}{
		{"file tool", "Write", `{"file_path":"$MEMORY/a.md","content":"x"}`, false, false},
		{"file tool on another file", "Write", `{"file_path":"$MEMORY/../a.md","content":"x"}`, false, true},
		{"file tool by a relative path", "Edit", `{"file_path":"$REL/a.md"}`, false, false},
		{"file tool that failed", "Write", `{"file_path":"$MEMORY/a.md","content":"x"}`, true, true},
		{"our tool", "mcp__mem__memory_write", `{"path":"a.md"}`, false, false},
		{"our tool that failed", "mcp__mem__memory_write", `{"path":"a.md"}`, true, true},
		{"our tool that reads", "mcp__mem__memory_read", `{"path":"a.md"}`, false, true},
		{"a shell", "Bash", `{"command":"ls $MEMORY"}`, false, true},
		{"no answer yet", "Write", `{"file_path":"$MEMORY/a.md"}`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.Start(t, modeltest.Say("Nothing to keep.").Forever())
			d := newDesk(t, s, "")
			dir := d.m.Location.Directory
			rel, err := filepath.Rel(d.env.Cwd, dir)
			if err != nil {
				t.Fatal(err)
			}
			input := strings.NewReplacer("$MEMORY", filepath.ToSlash(dir), "$REL", filepath.ToSlash(rel)).Replace(c.input)
			path := d.say("one", "do it", call("t1", c.tool, input), result("t1", c.failed), "Done.")
			r := d.turn("one", path)
			if got := len(s.Requests()) > 0; got != c.runs {
				t.Errorf("an agent ran: %v; %s", got, r.Report)
			}
			cur := d.cursor("one")
			if cur.Leaf.IsZero() || (cur.By == "") == c.runs {
				t.Errorf("cursor: %+v", cur)
			}
			// It holds until more is said, and no longer.
			d.say("one", "and more", "Yes.")
			d.turn("one", path)
			if len(s.Requests()) == 0 {
				t.Error("no agent ran on what was said later")
			}
		})
	}
}

func TestAskedForItPassesTheGates(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("Nothing to keep."))
	d := newDesk(t, s, "jobs:\n  extract:\n    every_turns: 5\n")
	path := d.say("one", "do it", `[{"type":"tool_use","id":"t1","name":"mcp__mem__memory_write","input":{}}]`, `[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]`, "Done.")
	if err := Ask(d.m, "one", path); err != nil {
		t.Fatal(err)
	}
	if got := d.end("one", path); got.Gate != "counter" {
		t.Errorf("%+v", got)
	}
	if d.run(); s.Left() != 0 {
		t.Error("no agent ran")
	}
}

func TestEveryThirdTurn(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("Nothing to keep.").Forever())
	d := newDesk(t, s, "jobs:\n  extract:\n    every_turns: 3\n")
	path := d.say("one", "a", "b")
	for i, want := range []string{"counter", "counter", "due"} {
		for range 2 { // to ask changes nothing
			got, err := Ended(d.m, Turn{Session: "one", Transcript: path}, true)
			if err != nil || got.Gate != want {
				t.Fatalf("turn %d would be %+v, %v", i+1, got, err)
			}
		}
		if got := d.end("one", path); got.Gate != want {
			t.Fatalf("turn %d: %+v", i+1, got)
		}
	}
	d.run()
	d.say("one", "c", "d")
	if got := d.end("one", path); got.Gate != "counter" {
		t.Errorf("after the run: %+v", got)
	}
	// The end of the session serves what the counter held back.
	got, err := Ended(d.m, Turn{Session: "one", Transcript: path, Over: true}, false)
	if err != nil || !got.Run {
		t.Errorf("%+v, %v", got, err)
	}
	d.run()
	if got, err = Ended(d.m, Turn{Session: "one", Transcript: path, Over: true}, false); err != nil || got.Gate != "over" {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d runs", n)
	}
}

func TestAskingChangesNothing(t *testing.T) {
	d := newDesk(t, modeltest.Start(t), "")
	path := d.say("one", "a", "b")
	before := tree(t, d.dir)
	got, err := Ended(d.m, Turn{Session: "one", Transcript: path}, true)
	if err != nil || !got.Run {
		t.Errorf("%+v, %v", got, err)
	}
	if after := tree(t, d.dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestClosedGates(t *testing.T) {
	s := modeltest.Start(t)
	d := newDesk(t, s, "jobs:\n  extract:\n    enabled: false\n")
	if got := d.end("one", "x"); got.Run || got.Gate != "setting" || len(d.waiting()) != 0 {
		t.Errorf("%+v", got)
	}
	d = newDesk(t, s, "")
	if got, err := Ended(d.m, Turn{Session: "one", Agent: "a1"}, false); err != nil || got.Gate != "agent" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Ended(d.m, Turn{}, false); err != nil || got.Gate != "session" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Ended(d.m, Turn{Session: "../x"}, false); err == nil {
		t.Errorf("an id that is none was taken: %+v", got)
	}
	d.write("config/config.yaml", "engine: none\n")
	m, _, err := openDesk(d.env)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got, err := Ended(m, Turn{Session: "one"}, false); err != nil || got.Gate != "engine" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGone(t *testing.T) {
	d := newDesk(t, modeltest.Start(t), "")
	r := d.turn("one", filepath.Join(d.dir, "nothing.jsonl"))
	if r.State != job.Done || !strings.Contains(r.Report, "cannot be read") || len(d.waiting()) != 0 || !d.cursor("one").Leaf.IsZero() {
		t.Errorf("%+v", r)
	}
}
