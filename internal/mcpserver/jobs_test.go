package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/engine"
	"mem/core/extract"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/project"
	"mem/core/proposal"
	"mem/core/sessionmem"
	"mem/core/settings"
	"mem/core/work"
	"mem/tools"
)

// lending starts a server whose client lends its model: answer gives what that says to
// the messages it is sent.
func lending(t *testing.T, e settings.Env, answer func(messages string) string) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	toTest, fromServer := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(toTest), done: make(chan error, 1)}
	go func() {
		err := New(Options{Memory: memory.Options{Env: e}, Version: "test", Tools: tools.Options{Finishers: map[string]proposal.Finisher{job.Extract: extract.Finish, job.Dream: dream.Finish}}}).Serve(context.Background(), inR, outW)
		_ = outW.Close()
		c.done <- err
	}()
	go func() { // answers what the server asks, and hands on the rest
		lines := bufio.NewReader(outR)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				_ = fromServer.Close()
				return
			}
			var q struct {
				ID     json.RawMessage
				Method string
				Params struct{ Messages json.RawMessage }
			}
			if json.Unmarshal(line, &q) == nil && q.Method == "sampling/createMessage" {
				go func() { // a client that thinks goes on reading
					fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", q.ID, answer(string(q.Params.Messages)))
				}()
				continue
			}
			if q.Method == "notifications/progress" {
				c.told.Add(1)
			}
			if q.Method != "" {
				continue // such as that it waits no more for an answer
			}
			if _, err := fromServer.Write(line); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		if err := <-c.done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	capabilities := `{}`
	if answer != nil {
		capabilities = `{"sampling":{"tools":{}}}`
	}
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	return c
}

func says(text string) string {
	return `{"role":"assistant","model":"m","content":{"type":"text","text":` + mustJSON(text) + `}}`
}

func callsTool(id, name string, input any) string {
	b, err := json.Marshal(map[string]any{"type": "tool_use", "id": id, "name": name, "input": input})
	if err != nil {
		panic(err)
	}
	return `{"role":"assistant","model":"m","stopReason":"toolUse","content":[` + string(b) + `]}`
}

// until waits for the job of an extraction to end.
func until(t *testing.T, c *client, id, state string) map[string]any {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		j := c.must("extract_status", args{"job": id})["job"].(map[string]any)
		if j["state"] == state {
			return j
		}
		if time.Now().After(end) || j["state"] == "failed" || j["state"] == "done" {
			t.Fatalf("%v", j)
		}
	}
}

// TestExtractWithTheClientsModel learns from a session by sampling.
func TestExtractWithTheClientsModel(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Never mock the database.", "I will not.")
	c := lending(t, e, func(messages string) string {
		if strings.Contains(messages, "tool_result") {
			return says("no-mocks.md: a correction")
		}
		if !strings.Contains(messages, "Never mock the database.") {
			return says("I was not shown the conversation.")
		}
		return callsTool("t1", "Write", args{"file_path": "/memory/no-mocks.md", "content": someTopic})
	})
	got := c.must("extract_start", nil)
	if got["session"] != session || got["engine"] != "sampling" || got["job"] == "" {
		t.Fatalf("%v", got)
	}
	j := until(t, c, got["job"].(string), "done")
	if j["change"] == nil || j["turns"] != 2.0 || !strings.Contains(j["report"].(string), "a correction") {
		t.Errorf("%v", j)
	}
	if got := c.must("memory_read", args{"topic": "no-mocks.md"}); !strings.Contains(fmt.Sprint(got), "originSessionId: "+session) {
		t.Errorf("%v", got)
	}
	s := c.must("extract_status", nil)
	if one := s["cursors"].([]any)[0].(map[string]any); one["session"] != session || one["by"] != got["job"] || len(s["waiting"].([]any)) != 0 {
		t.Errorf("%v", s)
	}
	// Its summary, too.
	c2 := lending(t, e, func(messages string) string {
		switch {
		case strings.Contains(messages, `"t2"`):
			return says("Done.")
		case strings.Contains(messages, `"t1"`):
			return callsTool("t2", "Edit", args{"file_path": "/session/summary.md", "old_string": "# Session Title\n_" + sessionmem.Sections[0].About + "_\n", "new_string": "# Session Title\n_" + sessionmem.Sections[0].About + "_\nNo mocks\n"})
		}
		return callsTool("t1", "Read", args{"file_path": "/session/summary.md"})
	})
	up := c2.must("session_summary_update", nil)
	if up["job"] == nil {
		t.Fatalf("%v", up)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if got := c2.must("session_summary_get", nil); got["from"] == "session memory" {
			if !strings.Contains(got["text"].(string), "No mocks") {
				t.Errorf("%v", got)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("no summary came")
		}
	}
}

// TestOfferedToTheClientsModel: what no process could do since only the client has a
// model, that model does when the next conversation takes it up.
func TestOfferedToTheClientsModel(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Never mock the database.", "I will not.")
	if err := os.MkdirAll(e.ConfigDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.ConfigDir, "config.yaml"), []byte("engine: sampling\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := memory.Open(memory.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	path := filepath.Join(e.Home, ".claude", "projects", project.Slug(e.Cwd), session+".jsonl")
	if got, err := extract.Ended(m, extract.Turn{Session: session, Transcript: path}, false); err != nil || !got.Run {
		t.Fatalf("%+v, %v", got, err)
	}
	h := &work.House{Memory: m, Jobs: job.Open(m.StateDirectory(), e), Proposals: proposal.Of(m), Choose: func(automatic bool) engine.Choice {
		return engine.Choose(e, m.Config, engine.Have{Host: true}, automatic) // as in a process that no client talks to
	}}
	_, body, err := h.Here(job.Record{Kind: job.Extract, By: "hook"}, func(ctx context.Context, run *job.Run) error { return extract.Run(ctx, h, run) })
	if err != nil {
		t.Fatal(err)
	}
	if err := body(t.Context()); err != nil {
		t.Fatal(err)
	}
	open, err := h.Jobs.List(job.ListOptions{Open: true})
	if err != nil || len(open) != 1 || open[0].State != job.Queued {
		t.Fatalf("%+v, %v", open, err)
	}
	c := lending(t, e, func(string) string { return says("Nothing to keep.") })
	got := c.must("extract_start", args{"job": open[0].ID})
	if got["engine"] != "sampling" || got["job"] == open[0].ID {
		t.Fatalf("%v", got)
	}
	until(t, c, got["job"].(string), "done")
	if r, err := h.Jobs.Get(open[0].ID); err != nil || r.State != job.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestExtractCancelled ends a run whose model does not answer in time.
func TestExtractCancelled(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Never mock the database.", "I will not.")
	asked, hold := make(chan struct{}, 10), make(chan struct{})
	c := lending(t, e, func(string) string {
		asked <- struct{}{}
		<-hold
		return says("late")
	})
	c.fails("invalid", "extract_cancel", nil) // none runs
	id := c.must("extract_start", nil)["job"].(string)
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody asked the model")
	}
	began := time.Now()
	got := c.must("extract_cancel", nil)["job"].(map[string]any)
	if got["id"] != id || got["state"] != "cancelled" || time.Since(began) > time.Second {
		t.Errorf("after %s: %v", time.Since(began), got)
	}
	close(hold)
	if got := c.fails("invalid", "extract_cancel", args{"job": id}); !strings.Contains(got["error"].(string), "over already") {
		t.Errorf("%v", got)
	}
	c.fails("not-found", "extract_cancel", args{"job": "zzz"})
	if s := c.must("extract_status", nil); len(s["waiting"].([]any)) != 1 {
		t.Errorf("the session is not looked at again: %v", s)
	}
}

const someSummary = "# Session Title\n_Five to ten words by which somebody finds this session again._\nNo mocks\n"

// TestExtractByTheHost: where nobody else thinks, the calling agent is asked.
func TestExtractByTheHost(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Never mock the database.", "I will not.")
	if err := os.MkdirAll(e.ConfigDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.ConfigDir, "config.yaml"), []byte("engine: host\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := lending(t, e, nil)
	got := c.must("extract_start", args{"session": "latest"})
	id, _ := got["job"].(string)
	if got["state"] != "waiting" || got["engine"] != "host" || !strings.Contains(got["prompt"].(string), "proposal_submit") || !strings.Contains(got["prompt"].(string), id) {
		t.Fatalf("%v", got)
	}
	if again := c.must("extract_start", args{"session": "latest"}); again["job"] != id {
		t.Errorf("a session waits twice: %v", again)
	}
	if s := c.must("extract_status", nil); len(s["cursors"].([]any)) != 0 {
		t.Errorf("the cursor moved before anything was handed in: %v", s)
	}
	c.fails("rejected", "proposal_submit", args{"job": id, "files": []any{args{"path": "../x.md", "text": "x"}}})
	done := c.must("proposal_submit", args{"job": id, "files": []any{args{"path": "no-mocks.md", "text": someTopic, "reason": "a correction"}}})
	if done["change"] == "" || done["state"] != "done" {
		t.Errorf("%v", done)
	}
	s := c.must("extract_status", nil)
	if one := s["cursors"].([]any)[0].(map[string]any); one["session"] != session || one["by"] != id {
		t.Errorf("%v", s)
	}
	if idle := c.must("extract_start", args{"session": "latest"}); idle["state"] != "idle" || idle["job"] != "" {
		t.Errorf("%v", idle)
	}
	// A queued one that was offered is taken up by its id, and an empty submission ends it.
	record(t, e, session, nil, "Never mock the database.", "I will not.", "And no stubs.", "Neither.")
	next := c.must("extract_start", args{"session": "latest"})
	if up := c.must("extract_start", args{"job": next["job"]}); up["job"] != next["job"] || up["prompt"] == nil {
		t.Errorf("%v", up)
	}
	if done := c.must("proposal_submit", args{"job": next["job"], "files": []any{}}); done["change"] != "" || done["state"] != "done" {
		t.Errorf("%v", done)
	}
	if idle := c.must("extract_start", args{"session": "latest"}); idle["state"] != "idle" {
		t.Errorf("an empty submission does not count: %v", idle)
	}
	c.fails("not-found", "extract_start", args{"session": "zzz"})
	c.fails("invalid", "extract_start", args{"session": "latest", "job": id})
	c.fails("invalid", "extract_start", args{"job": id}) // it is done
	c.fails("invalid", "session_summary_update", nil)    // the agent writes it itself
}

func TestSessionSummary(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Never mock the database.", "I will not.")
	c := start(t, memory.Options{Env: e})
	none := c.must("session_summary_get", nil)
	if none["from"] != "none" || none["text"] != "" || !strings.Contains(none["form"].(string), "# Worklog") {
		t.Errorf("%v", none)
	}
	w := c.must("session_summary_update", args{"text": someSummary})
	if w["sections"] != 1.0 || w["hash"] == "" {
		t.Errorf("%v", w)
	}
	got := c.must("session_summary_get", args{"session": session[:6]})
	if got["from"] != "session memory" || got["hash"] != w["hash"] || !strings.Contains(got["text"].(string), "No mocks") {
		t.Errorf("%v", got)
	}
	if p := c.fails("conflict", "session_summary_update", args{"text": someSummary + "more\n"}); p["hash"] != w["hash"] {
		t.Errorf("%v", p)
	}
	long := someSummary + strings.Repeat("word and word\n", 1000)
	if p := c.fails("rejected", "session_summary_update", args{"text": long, "base_hash": w["hash"]}); !strings.Contains(p["error"].(string), "the section Session Title has about") {
		t.Errorf("%v", p)
	}
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	c.fails("secret", "session_summary_update", args{"text": someSummary + token, "base_hash": w["hash"]})
	c.fails("invalid", "session_summary_update", args{"base_hash": w["hash"]})
	c.must("session_summary_update", args{"text": someSummary + "more\n", "base_hash": w["hash"]})
}
