package mcpserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
)

// aged fills a memory with a topic of which a session knows better.
func aged(t *testing.T, c *client) {
	t.Helper()
	c.must("memory_write", args{"name": "rate-limit", "description": "Requests a minute", "type": "reference", "body": "The partner takes 30 requests a minute."})
	c.must("memory_write", args{"name": "old-limit", "description": "What the partner takes", "type": "reference", "body": "30 requests in a minute, says the partner."})
}

// dreams answers like a model that corrects the limit and drops the second note.
func dreams(messages string) string {
	switch {
	case strings.Contains(messages, `"t2"`):
		return says(`{"did":"merged","files":["old-limit.md"],"into":"rate-limit.md","why":"one limit, two notes"}` + "\nDone.")
	case strings.Contains(messages, `"t1"`):
		return `{"role":"assistant","model":"m","stopReason":"toolUse","content":[` +
			`{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/memory/rate-limit.md","old_string":"30 requests","new_string":"45 requests"}},` +
			`{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"/memory/old-limit.md","content":""}}]}`
	}
	return `{"role":"assistant","model":"m","stopReason":"toolUse","content":[` +
		`{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/memory/rate-limit.md"}},` +
		`{"type":"tool_use","id":"t0","name":"Read","input":{"file_path":"/memory/old-limit.md"}}]}`
}

// TestDreamWithTheClientsModel dreams by sampling, with progress while the call waits.
func TestDreamWithTheClientsModel(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "The partner takes 45 requests a minute now.", "Noted.")
	c := lending(t, e, func(messages string) string {
		time.Sleep(300 * time.Millisecond)
		return dreams(messages)
	})
	aged(t, c)
	before := c.must("dream_status", nil)
	if before["job"] != nil || before["gates"].([]any)[2].(map[string]any)["gate"] != "sessions" || before["open"] != false {
		t.Errorf("%v", before)
	}
	r := c.request("tools/call", `{"name":"dream_start","arguments":{"wait":true},"_meta":{"progressToken":"p"}}`)
	if r.Error != nil || !strings.Contains(string(r.Result), `"state":"done"`) {
		t.Fatalf("%s %v", r.Result, r.Error)
	}
	if c.told.Load() == 0 {
		t.Error("no progress was told")
	}
	st := c.must("dream_status", nil)
	j := st["job"].(map[string]any)
	if j["engine"] != "sampling" || j["turns"] != 3.0 || j["proposal"] == nil || len(j["sessions"].([]any)) != 1 || len(st["proposals"].([]any)) != 1 || st["lastSuccess"] == nil {
		t.Errorf("%v", st)
	}
	// A merge waits whole: the note that stays is not changed before the other goes.
	if got := c.must("memory_read", args{"topic": "rate-limit"}); !strings.Contains(fmt.Sprint(got), "30 requests") {
		t.Errorf("%v", got)
	}
	h := c.must("dream_history", args{"limit": 1})
	if one := h["dreams"].([]any)[0].(map[string]any); one["id"] != j["id"] || !strings.Contains(one["report"].(string), "one limit, two notes") {
		t.Errorf("%v", h)
	}
	c.fails("invalid", "dream_cancel", nil)
	c.fails("invalid", "dream_cancel", args{"job": j["id"]})
	c.fails("not-found", "dream_status", args{"job": "zzz"})
}

func TestDreamCancelled(t *testing.T) {
	e := realEnv(t)
	asked, hold := make(chan struct{}, 10), make(chan struct{})
	c := lending(t, e, func(string) string {
		asked <- struct{}{}
		<-hold
		return says("late")
	})
	aged(t, c)
	id := c.must("dream_start", nil)["job"].(string)
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody asked the model")
	}
	if again := c.must("dream_start", nil); again["state"] != "closed" || !strings.Contains(fmt.Sprint(again["notes"]), "dreams since") {
		t.Errorf("two dreams at once: %v", again)
	}
	if j := c.must("dream_status", nil)["job"].(map[string]any); j["id"] != id || j["state"] != "running" || j["phase"] != "starting" {
		t.Errorf("%v", j)
	}
	began := time.Now()
	got := c.must("dream_cancel", nil)["job"].(map[string]any)
	if got["id"] != id || got["state"] != "cancelled" || time.Since(began) > time.Second {
		t.Errorf("after %s: %v", time.Since(began), got)
	}
	close(hold)
	if st := c.must("dream_status", nil); st["lastSuccess"] != nil {
		t.Errorf("it counts as a dream: %v", st)
	}
}

// TestDreamByTheHost: where nobody else thinks, the calling agent is asked.
func TestDreamByTheHost(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "The partner takes 45 requests a minute now.", "Noted.")
	if err := os.MkdirAll(e.ConfigDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.ConfigDir, "config.yaml"), []byte("engine: host\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := lending(t, e, nil)
	aged(t, c)
	got := c.must("dream_start", nil)
	id, _ := got["job"].(string)
	prompt, _ := got["prompt"].(string)
	if got["state"] != "waiting" || got["engine"] != "host" || !strings.Contains(prompt, "proposal_submit once, with job \""+id) || !strings.Contains(prompt, session) || strings.Contains(prompt, "/sessions") {
		t.Fatalf("%v", got)
	}
	if again := c.must("dream_start", nil); again["job"] != id {
		t.Errorf("two dreams wait: %v", again)
	}
	hash := func(topic string) any { return c.must("memory_read", args{"topic": topic})["hash"] }
	read := c.must("memory_read", args{"topic": "rate-limit"})
	text := strings.Replace(read["text"].(string), "30 requests", "45 requests", 1)
	c.fails("rejected", "proposal_submit", args{"job": id, "files": []any{args{"path": "CLAUDE.md", "text": "x"}}})
	done := c.must("proposal_submit", args{"job": id, "report": `{"did":"merged","files":["old-limit.md"],"into":"rate-limit.md","why":"one limit"}`, "files": []any{
		args{"path": "rate-limit.md", "text": text, "base_hash": hash("rate-limit"), "reason": "the partner said so"},
		args{"path": "old-limit.md", "delete": true, "base_hash": hash("old-limit")},
	}})
	if done["state"] != "done" || done["proposal"] == nil || len(done["held"].([]any)) != 1 {
		t.Errorf("%v", done)
	}
	st := c.must("dream_status", nil)
	if st["lastSuccess"] == nil || st["job"].(map[string]any)["state"] != "done" {
		t.Errorf("%v", st)
	}
	c.fails("invalid", "dream_start", args{"job": id}) // it is over
	// Nothing to change ends one as well, and takes the place of what waits.
	next := c.must("dream_start", nil)
	if done := c.must("proposal_submit", args{"job": next["job"], "files": []any{}}); done["state"] != "done" {
		t.Errorf("%v", done)
	}
}

func TestDreamPrompt(t *testing.T) {
	c := start(t, memory.Options{Env: realEnv(t)})
	if r := c.request("prompts/list", `{}`); !strings.Contains(string(r.Result), `"name":"dream"`) {
		t.Errorf("%s", r.Result)
	}
	if r := c.request("prompts/get", `{"name":"dream"}`); r.Error != nil || !strings.Contains(string(r.Result), "dream_start") {
		t.Errorf("%s %v", r.Result, r.Error)
	}
}
