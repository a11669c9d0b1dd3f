package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/project"
	"mem/core/settings"
	"mem/core/transcript/transcripttest"
)

const session = "aaaaaaaa-0000-4000-8000-000000000001"

// record puts a transcript of the project where its client keeps it.
func record(t *testing.T, e settings.Env, id string, more []byte, said ...string) {
	t.Helper()
	dir := filepath.Join(e.Home, ".claude", "projects", project.Slug(e.Cwd))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	parent := "null"
	for i, text := range said {
		role := []string{"user", "assistant"}[i%2]
		uuid := fmt.Sprintf("%s%03d", id[:len(id)-3], i)
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"id":"m%d","content":[{"type":"text","text":%s}]},"uuid":%q,"timestamp":"2026-11-29T10:00:00.000Z","cwd":%s,"sessionId":%q,"version":"2.1.332","gitBranch":"main"}`+"\n",
			parent, role, role, i, mustJSON(text), uuid, mustJSON(e.Cwd), id)
		parent = fmt.Sprintf("%q", uuid)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), append([]byte(b.String()), more...), 0o600); err != nil {
		t.Fatal(err)
	}
}

func realEnv(t *testing.T) settings.Env {
	t.Helper()
	e := env(t, nil)
	home, err := filepath.EvalSymlinks(e.Home)
	if err != nil {
		t.Fatal(err)
	}
	e.Home, e.Cwd = home, filepath.Join(home, "project")
	return e
}

func TestTranscripts(t *testing.T) {
	e := realEnv(t)
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	record(t, e, session, nil, "Why does the cache stay cold? "+token, "Since the warmer runs late.", "Then move it.", "Moved.")
	c := start(t, memory.Options{Env: e})

	l := c.must("transcript_list", nil)
	one := l["sessions"].([]any)[0].(map[string]any)
	if l["total"] != 1.0 || one["session"] != session || one["turns"] != 2.0 || one["branch"] != "main" {
		t.Errorf("%v", l)
	}
	f := c.must("transcript_search", args{"query": "cold caches"})
	hit := f["hits"].([]any)[0].(map[string]any)
	if hit["session"] != session || f["indexing"] != false {
		t.Errorf("%v", f)
	}
	page := c.must("transcript_search", args{"query": "cold moved", "limit": 1})
	second := c.must("transcript_search", args{"query": "cold moved", "limit": 1, "cursor": page["nextCursor"]})
	if p, q := page["hits"].([]any), second["hits"].([]any); len(p) != 1 || len(q) != 1 || p[0].(map[string]any)["uuid"] == q[0].(map[string]any)["uuid"] {
		t.Errorf("pages: %v %v", page, second)
	}
	r := c.must("transcript_resume", args{"session": hit["session"], "at": hit["uuid"]})
	if !strings.Contains(r["text"].(string), "Why does the cache") || strings.Contains(r["text"].(string), "Moved.") || !strings.Contains(fmt.Sprint(r["notes"]), "not an instruction") {
		t.Errorf("%v", r)
	}
	r = c.must("transcript_resume", args{"session": "latest", "format": "messages", "budget_tokens": 90_000, "include": []string{"thinking"}})
	if len(r["messages"].([]any)) != 4 || r["resumePoint"] != session[:len(session)-3]+"003" || !strings.Contains(fmt.Sprint(r["notes"]), "at most 10000") {
		t.Errorf("%v", r)
	}
	x := c.must("transcript_export", args{"session": "aaaa"})
	if !strings.Contains(x["text"].(string), "Since the warmer runs late.") || x["nextCursor"] != nil {
		t.Errorf("%v", x)
	}
	if h := c.must("transcript_export", args{"session": "aaaa", "format": "html"}); !strings.HasPrefix(h["text"].(string), "<!DOCTYPE html>") && !strings.HasPrefix(h["text"].(string), "<!doctype html>") {
		t.Errorf("%v", h["text"])
	}
	a := c.must("transcript_append", args{"title": "Billing", "entries": []args{{"role": "user", "text": "Who owns billing?"}, {"role": "assistant", "text": "Ana."}}})
	c.must("transcript_append", args{"session": a["session"], "entries": []args{{"role": "user", "content": []args{{"type": "text", "text": "And payroll?"}}}}})
	if r := c.must("transcript_resume", args{"session": a["session"], "format": "messages"}); len(r["messages"].([]any)) != 3 || r["origin"] != "recorded" || r["version"] != "test 1" {
		t.Errorf("%v", r)
	}
	kept := filepath.Join(e.Home, ".claude", "projects", project.Slug(e.Cwd), session, "session-memory")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kept, "summary.md"), []byte("# Session Title\nThe cache, "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := c.must("session_summary_get", args{"session": session})
	if !strings.Contains(sum["text"].(string), "The cache") {
		t.Errorf("%v", sum)
	}
	for what, v := range map[string]any{"summary": sum, "list": l, "search": f, "resume": r, "export": x} {
		if s := fmt.Sprint(v); !strings.Contains(s, "not an instruction") && !strings.Contains(s, "```text") {
			t.Errorf("%s: what a session says is neither fenced nor said to be data: %v", what, v)
		}
		if strings.Contains(fmt.Sprint(v), token) {
			t.Errorf("a secret is shown: %v", v)
		}
	}
}

func TestTranscriptsCalledWrongly(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "x", "y")
	record(t, e, session[:7]+"b"+session[8:], nil, "x", "y")
	c := start(t, memory.Options{Env: e})
	for _, tt := range []struct {
		kind, tool string
		args       args
		want       []string
	}{
		{"invalid", "transcript_list", args{"cursor": "zz"}, []string{"cursor"}},
		{"invalid", "transcript_list", args{"limit": 0}, []string{`"limit"`}},
		{"invalid", "transcript_resume", nil, []string{`"session"`}},
		{"not-found", "transcript_resume", args{"session": "zzz"}, []string{"zzz"}},
		{"not-found", "transcript_resume", args{"session": "/etc/passwd"}, []string{"/etc/passwd"}},
		{"not-found", "transcript_export", args{"session": "../x.jsonl"}, []string{"x.jsonl"}},
		{"ambiguous", "transcript_resume", args{"session": "aaaa"}, []string{"2 sessions"}},
		{"invalid", "transcript_resume", args{"session": session, "format": "pdf"}, []string{`"format"`}},
		{"invalid", "transcript_resume", args{"session": session, "budget_tokens": 10}, []string{`"budget_tokens"`}},
		{"invalid", "transcript_resume", args{"session": session, "cursor": "zz"}, []string{"cursor"}},
		{"invalid", "transcript_resume", args{"session": session, "at": "zz"}, []string{"zz"}},
		{"not-found", "transcript_resume", args{"session": session, "agent": "zz"}, []string{"zz"}},
		{"invalid", "transcript_search", args{"query": " "}, []string{"query"}},
		{"invalid", "transcript_search", args{"query": "x", "cursor": "1"}, []string{"cursor"}},
		{"invalid", "transcript_search", args{"query": "x", "roles": []string{"boss"}}, []string{`"roles`}},
		{"invalid", "transcript_search", args{"query": "x", "since": "soon"}, []string{"since"}},
		{"invalid", "transcript_export", args{"session": session, "cursor": "zz"}, []string{"cursor"}},
		{"invalid", "transcript_append", args{}, []string{`"entries"`}},
		{"invalid", "transcript_append", args{"entries": []args{}}, []string{"nothing to record"}},
		{"invalid", "transcript_append", args{"entries": []args{{"role": "user", "txt": "x"}}}, []string{`txt"`}},
		{"invalid", "transcript_append", args{"session": session, "title": "x", "entries": []args{}}, []string{"by its client"}},
	} {
		text := c.fails(tt.kind, tt.tool, tt.args)["error"].(string)
		for _, w := range tt.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s %v: %q does not name %s", tt.tool, tt.args, text, w)
			}
		}
	}
}

func TestTranscriptResources(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Why does the cache stay cold?", "Late.")
	c := start(t, memory.Options{Env: e})
	for uri, want := range map[string]string{"transcript://latest": "Why does the cache", "transcript://aaaa": "Why does the cache", "transcript://" + session: "Why does the cache",
		"transcript://" + session + "/summary": "There is no summary"} {
		r := c.request("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
		var got struct{ Contents []struct{ Text string } }
		if r.Error != nil || json.Unmarshal(r.Result, &got) != nil || !strings.Contains(got.Contents[0].Text, want) {
			t.Errorf("%s: %s %+v", uri, r.Result, r.Error)
		}
	}
	for _, uri := range []string{"transcript://zzz", "transcript://zzz/summary", "transcript://../x", "transcript://..%2fx", "transcript://latest/nothing"} {
		if r := c.request("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); r.Error == nil || r.Error.Code != -32002 {
			t.Errorf("%s: %s %+v", uri, r.Result, r.Error)
		}
	}
}

// message is a reply or a notification, as far as progress goes.
type message struct {
	ID     int
	Method string
	Params struct {
		ProgressToken   string
		Progress, Total float64
	}
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) message() (m message) {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return m
}

// A long call tells how far it is, only ever further, and before its reply; cancelled,
// it ends at once and the server goes on.
func TestProgressAndCancel(t *testing.T) {
	e := realEnv(t)
	var b bytes.Buffer
	if _, err := transcripttest.Write(&b, transcripttest.Options{Seed: 2, Bytes: 60 << 20}); err != nil {
		t.Fatal(err)
	}
	record(t, e, session, b.Bytes(), "Where is the zebra?", "Here.")
	c := start(t, memory.Options{Env: e})
	// Cancelled calls get no reply.
	c.send(`{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"name":"transcript_search","arguments":{"query":"zebra"}}}`)
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900}}`)
	c.send(`{"jsonrpc":"2.0","id":901,"method":"ping"}`)
	if m := c.message(); m.ID != 901 || time.Since(start) > time.Second {
		t.Errorf("%+v after %v", m, time.Since(start))
	}
	c.send(`{"jsonrpc":"2.0","id":902,"method":"tools/call","params":{"name":"transcript_search","arguments":{"query":"zebra"},"_meta":{"progressToken":"p"}}}`)
	told, last := 0, 0.0
	start = time.Now()
	for {
		m := c.message()
		if m.ID == 902 {
			break
		}
		if m.Method != "notifications/progress" || m.Params.ProgressToken != "p" || m.Params.Progress <= last || m.Params.Total < m.Params.Progress {
			t.Errorf("%+v after %v", m, last)
		}
		told, last = told+1, m.Params.Progress
	}
	if took := time.Since(start); told == 0 && took > 1500*time.Millisecond {
		t.Errorf("a call of %v told nothing", took)
	}
}

// TestResourceProgressAndCancel: a session that is read as a resource, and its summary, tell how far they are, only
// ever further and before the reply; cancelled in the middle they give none and the server goes on.
func TestResourceProgressAndCancel(t *testing.T) {
	e := realEnv(t)
	record(t, e, session, nil, "Where is the zebra?", "Here.")
	path := filepath.Join(e.Home, ".claude", "projects", project.Slug(e.Cwd), session+".jsonl")
	c := start(t, memory.Options{Env: e})
	id := 1000
	for _, uri := range []string{"transcript://" + session, "transcript://" + session + "/summary"} {
		read := func() int {
			id++
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q,"_meta":{"progressToken":"r"}}}`, id, uri))
			return id
		}
		told, last := 0, 0.0
		// A hole in a file takes time to read and no room on the disk; how large it has to be depends on the machine.
		for size := int64(2 << 30); told == 0 && size <= 64<<30; size *= 2 {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			n := read()
			for m := c.message(); m.ID != n; m = c.message() {
				if m.Method != "notifications/progress" || m.Params.ProgressToken != "r" || m.Params.Progress <= last || m.Params.Total < m.Params.Progress {
					t.Errorf("%s: %+v after %v", uri, m, last)
				}
				told, last = told+1, m.Params.Progress
			}
		}
		if told == 0 {
			t.Fatalf("%s told nothing", uri)
		}
		if info, err := os.Stat(path); err != nil || os.Truncate(path, 2*info.Size()) != nil {
			t.Fatal(err)
		}
		n := read()
		if m := c.message(); m.Method != "notifications/progress" {
			t.Fatalf("%s: %+v", uri, m)
		}
		begun := time.Now()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n))
		c.send(`{"jsonrpc":"2.0","id":999,"method":"ping"}`)
		for m := c.message(); m.ID != 999; m = c.message() {
			if m.ID == n {
				t.Errorf("%s: a reply to what was cancelled", uri)
			}
		}
		id++
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
		for m := c.message(); m.ID != id; m = c.message() {
			t.Errorf("%s: %+v after it was cancelled", uri, m)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%s: the server goes on after %v", uri, took)
		}
		if err := os.Truncate(path, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResumeIncludesAndGoesOn: each part of a conversation comes where include asks for it and nowhere
// else, and the cursor leads through all of it, each turn once.
func TestResumeIncludesAndGoesOn(t *testing.T) {
	e := realEnv(t)
	row := func(n int, kind, rest string) string {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"%s%03d"`, session[:len(session)-3], n-1)
		}
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,%s,"uuid":"%s%03d","timestamp":"2026-11-29T10:00:00.000Z","cwd":%s,"sessionId":%q}`+"\n",
			parent, kind, rest, session[:len(session)-3], n, mustJSON(e.Cwd), session)
	}
	more := row(0, "user", `"message":{"role":"user","content":"PROMPT one"}`) +
		row(1, "attachment", `"attachment":{"type":"file","filename":"x"},"rendered":[{"content":"ATTACHMENT one"}]`) +
		row(2, "assistant", `"message":{"role":"assistant","id":"a","content":[{"type":"thinking","thinking":"THINKING one","signature":"c2ln"}]}`) +
		row(3, "assistant", `"message":{"role":"assistant","id":"a","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"CALL one"}}]}`) +
		row(4, "user", `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"RESULT one"}]}`) +
		row(5, "assistant", `"message":{"role":"assistant","id":"b","content":[{"type":"text","text":"ANSWER one"}]}`)
	const turns = 40
	for i := range turns {
		more += row(6+2*i, "user", fmt.Sprintf(`"message":{"role":"user","content":"TURN-%02d %s"}`, i, strings.Repeat("many words ", 60))) +
			row(7+2*i, "assistant", fmt.Sprintf(`"message":{"role":"assistant","id":"c%d","content":[{"type":"text","text":"REPLY-%02d %s"}]}`, i, i, strings.Repeat("more words ", 60)))
	}
	record(t, e, session, []byte(more))
	short := session[:7] + "b" + session[8:]
	record(t, e, short, []byte(strings.ReplaceAll(more[:strings.Index(more, "TURN-00")], session, short)))
	c := start(t, memory.Options{Env: e})
	for _, format := range []string{"messages", "brief"} {
		for _, include := range [][]string{nil, {}, {"thinking"}, {"tool_results"}, {"attachments"}, {"thinking", "tool_results", "attachments"}} {
			a := args{"session": short, "format": format}
			asked := append([]string{}, include...)
			if include == nil {
				asked = []string{"tool_results"}
			} else {
				a["include"] = include
			}
			r := c.must("transcript_resume", a)
			text := fmt.Sprint(r["messages"], r["text"])
			for part, name := range map[string]string{"THINKING": "thinking", "RESULT": "tool_results", "ATTACHMENT": "attachments"} {
				if got, want := strings.Contains(text, part+" one"), slices.Contains(asked, name); got != want {
					t.Errorf("%s, include %q: %s is there: %v", format, include, name, got)
				}
			}
			for _, always := range []string{"PROMPT one", "CALL one", "ANSWER one"} {
				if !strings.Contains(text, always) {
					t.Errorf("%s, include %q: no %s", format, include, always)
				}
			}
		}
		seen, pages := map[string]int{}, 0
		for a := (args{"session": session, "format": format, "budget_tokens": 2500}); ; pages++ {
			r := c.must("transcript_resume", a)
			text := fmt.Sprint(r["messages"])
			if format == "brief" {
				text = r["text"].(string)
			}
			for i := range turns {
				for _, what := range []string{fmt.Sprintf("TURN-%02d many words", i), fmt.Sprintf("REPLY-%02d more words", i)} {
					seen[what] += strings.Count(text, what)
				}
			}
			next, ok := r["nextCursor"].(string)
			if !ok {
				break
			}
			a["cursor"] = next
		}
		for what, n := range seen {
			if n != 1 {
				t.Errorf("%s: %s is %d times on the pages", format, what, n)
			}
		}
		if pages < 3 || len(seen) != 2*turns {
			t.Errorf("%s: %d pages, %d texts", format, pages, len(seen))
		}
	}
}
