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

	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/text"
	"mem/tools"
)

const someTopic = "---\nname: style\ndescription: How we write\ntype: feedback\n---\n\nShort sentences, and no jokes in commit messages.\n"

// waiting makes a job that waits for a host, beside the server, and gives its id.
func waiting(t *testing.T, opt memory.Options, kind string) string {
	t.Helper()
	m, err := memory.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r, err := job.Open(m.StateDirectory(), m.Env()).Create(job.Record{Kind: kind, State: job.Waiting, Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Make(t.Context(), m, stage.Options{Job: r.ID, Origin: "s"}); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func TestProposals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	files := map[string]string{"MEMORY.md": "# Memory\n\n- [style](style.md) — how we write\n", "style.md": someTopic}
	for i := range 5 { // a run that removes more than a fifth waits as a whole
		files[fmt.Sprintf("other-%d.md", i)] = strings.Replace(someTopic, "name: style", fmt.Sprintf("name: other-%d", i), 1)
	}
	for p, s := range files {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opt := memory.Options{Env: env(t, nil), MemoryDir: dir}
	c := start(t, opt)
	id := waiting(t, opt, job.Dream)
	if got := c.must("proposal_list", args{}); len(got["proposals"].([]any)) != 0 {
		t.Errorf("%v", got)
	}
	bad := c.fails("rejected", "proposal_submit", args{"job": id, "files": []any{args{"path": "CLAUDE.md", "text": "obey"}}})
	if !strings.Contains(bad["error"].(string), "not memory") {
		t.Errorf("%v", bad)
	}
	c.fails("not-found", "proposal_submit", args{"job": "nothing", "files": []any{}})
	body := strings.Repeat("One more line of a long text that a host wrote for this test.\n", 700)
	got := c.must("proposal_submit", args{"job": id, "report": "Two things.", "files": []any{
		args{"path": "style.md", "delete": true, "base_hash": text.Hash(someTopic), "reason": "said elsewhere"},
		args{"path": "tone.md", "text": strings.Replace(someTopic, "name: style", "name: tone", 1) + body},
	}})
	if got["state"] != "done" || got["change"] == "" || len(got["held"].([]any)) != 1 {
		t.Fatalf("%v", got)
	}
	p := got["proposal"].(string)
	if got := c.must("proposal_list", args{}); len(got["proposals"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	var diffs strings.Builder
	pages, cursor := 0, ""
	for more := true; more; pages++ {
		a := args{"id": p}
		if cursor != "" {
			a["cursor"] = cursor
		}
		shown := c.must("proposal_show", a)
		for _, d := range shown["diffs"].([]any) {
			diffs.WriteString(d.(map[string]any)["diff"].(string))
		}
		if b, _ := json.Marshal(shown["list"]); cursor == "" && !strings.Contains(string(b), "said elsewhere") {
			t.Errorf("%s", b)
		}
		cursor, more = shown["nextCursor"].(string)
	}
	if pages < 3 || pages > 10 || strings.Count(diffs.String(), "+One more line") != 700 || !strings.Contains(diffs.String(), "-Short sentences") {
		t.Errorf("%d pages, %d lines", pages, strings.Count(diffs.String(), "+One more line"))
	}
	r := c.request("resources/read", `{"uri":"proposal://`+p+`"}`)
	if r.Error != nil || !strings.Contains(string(r.Result), "Two things.") || !strings.Contains(string(r.Result), "+name: tone") {
		t.Errorf("%+v", r.Error)
	}
	for _, uri := range []string{"proposal://nothing", "proposal://..%2fx", "proposal://a/b"} {
		if r := c.request("resources/read", `{"uri":"`+uri+`"}`); r.Error == nil {
			t.Errorf("%s was read", uri)
		}
	}
	// This client can ask nobody.
	no := c.fails("needs-person", "proposal_apply", args{"id": p})
	if !strings.Contains(no["error"].(string), "mem-mcp proposals apply "+p) {
		t.Errorf("%v", no)
	}
	if _, err := os.Stat(filepath.Join(dir, "style.md")); err != nil {
		t.Error("it was applied")
	}
	c.fails("not-found", "proposal_show", args{"id": "nothing"})
	c.fails("invalid", "proposal_show", args{"id": p, "cursor": "x"})
	if done := c.must("proposal_discard", args{"id": p, "reason": "still needed"}); done["change"] != "" {
		t.Errorf("%v", done)
	}
	if got := c.must("proposal_list", args{"all": true}); len(got["proposals"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
}

// TestAPersonApplies: with the flag of a person, and by a person's answer to a question.
func TestAPersonApplies(t *testing.T) {
	for _, how := range []string{"flag", "yes", "no"} {
		dir := filepath.Join(t.TempDir(), "memory")
		opt := memory.Options{Env: env(t, nil), MemoryDir: dir}
		id := waiting(t, opt, job.Merge) // always looked at
		answer := map[string]string{"yes": `{"action":"accept","content":{"apply":true}}`, "no": `{"action":"decline"}`}[how]
		c := startAsking(t, opt, how == "flag", answer)
		got := c.must("proposal_submit", args{"job": id, "files": []any{args{"path": "style.md", "text": someTopic}}})
		p, _ := got["proposal"].(string)
		if p == "" {
			t.Fatalf("%s: %v", how, got)
		}
		if how == "no" {
			c.fails("needs-person", "proposal_apply", args{"id": p})
			continue
		}
		if done := c.must("proposal_apply", args{"id": p}); done["change"] == "" {
			t.Errorf("%s: %v", how, done)
		}
		if _, err := os.Stat(filepath.Join(dir, "style.md")); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		// It is applied once.
		if done := c.must("proposal_apply", args{"id": p}); done["change"] != "" || done["alreadyDecided"] != 1.0 {
			t.Errorf("%s: %v", how, done)
		}
	}
}

// startAsking starts a server with a client that answers questions, where answer is not
// empty.
func startAsking(t *testing.T, opt memory.Options, flag bool, answer string) *client {
	t.Helper()
	return startWith(t, opt, flag, answer, func(question string) bool { return strings.Contains(question, "new style.md") })
}

// startWith starts a server with a client that answers questions that are as they should be.
func startWith(t *testing.T, opt memory.Options, flag bool, answer string, right func(question string) bool) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	toTest, fromServer := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(toTest), done: make(chan error, 1)}
	go func() {
		err := New(Options{Memory: opt, Version: "test", Tools: tools.Options{AllowApply: flag}}).Serve(context.Background(), inR, outW)
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
				Params struct{ Message string }
			}
			if json.Unmarshal(line, &q) == nil && q.Method == "elicitation/create" {
				if !right(q.Params.Message) {
					t.Errorf("the question is %q", q.Params.Message)
				}
				fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", q.ID, answer)
				continue
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
	if answer != "" {
		capabilities = `{"elicitation":{}}`
	}
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	return c
}
