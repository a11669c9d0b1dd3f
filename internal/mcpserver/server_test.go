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
	"sync/atomic"
	"testing"

	"mem/core/memory"
	"mem/core/settings"
)

// client speaks to a server in this process.
type client struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	next int
	done chan error
	told atomic.Int32 // progress, where somebody counts it
}

// env is the environment of a person whose home is a scratch directory.
func env(t *testing.T, vars map[string]string) settings.Env {
	t.Helper()
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	return settings.Env{
		Lookup: func(k string) (string, bool) { v, ok := vars[k]; return v, ok },
		Home:   home, Cwd: project,
		ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"),
		ManagedSettings: filepath.Join(home, "managed.json"),
	}
}

func start(t *testing.T, opt memory.Options) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		err := New(Options{Memory: opt, Version: "test"}).Serve(context.Background(), inR, outW)
		_ = outW.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		if err := <-c.done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	return c
}

type reply struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (c *client) request(method, params string) reply {
	c.t.Helper()
	c.next++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.next, method, params); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return r
}

// result is a tool result.
type result struct {
	IsError           bool
	StructuredContent map[string]any
	Content           []struct{ Text string }
}

func (c *client) call(tool string, args map[string]any) result {
	c.t.Helper()
	b, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	if err != nil {
		c.t.Fatal(err)
	}
	r := c.request("tools/call", string(b))
	if r.Error != nil {
		c.t.Fatalf("%s: JSON-RPC error %d %s", tool, r.Error.Code, r.Error.Message)
	}
	var res result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		c.t.Fatal(err)
	}
	return res
}

// must calls a tool that has to succeed.
func (c *client) must(tool string, args map[string]any) map[string]any {
	c.t.Helper()
	r := c.call(tool, args)
	if r.IsError {
		c.t.Fatalf("%s: %s", tool, r.Content[0].Text)
	}
	if len(r.Content) != 1 || r.Content[0].Text == "" {
		c.t.Errorf("%s: no text", tool)
	}
	return r.StructuredContent
}

// fails calls a tool that has to fail with a kind of problem.
func (c *client) fails(kind, tool string, args map[string]any) map[string]any {
	c.t.Helper()
	r := c.call(tool, args)
	if !r.IsError || r.StructuredContent["kind"] != kind {
		c.t.Fatalf("%s: isError %v, %v; want a problem of kind %s", tool, r.IsError, r.StructuredContent, kind)
	}
	return r.StructuredContent
}

type args = map[string]any

func TestWorkflow(t *testing.T) {
	c := start(t, memory.Options{Env: env(t, nil)})
	w := c.must("memory_write", args{"name": "no-mocks", "description": "Tests use a real database", "type": "feedback", "body": "Do not mock.\n\n## Why\n\nOnce burnt."})
	if w["created"] != true || w["entry"] != "- [no-mocks](no-mocks.md) — Tests use a real database" {
		t.Errorf("written = %v", w)
	}
	old := c.fails("exists", "memory_write", args{"name": "no-mocks", "description": "d", "type": "user", "body": "b"})
	if !strings.Contains(old["text"].(string), "Do not mock.") || old["hash"] != w["hash"] {
		t.Errorf("problem = %v", old)
	}
	r := c.must("memory_read", args{"topic": "no_mocks"})
	if r["hash"] != w["hash"] {
		t.Errorf("read = %v", r)
	}
	e := c.must("memory_edit", args{"topic": "no-mocks", "section": "Why", "content": "It hid a bug.", "expected_hash": r["hash"]})
	if !strings.Contains(e["diff"].(string), "+It hid a bug.") {
		t.Errorf("edited = %v", e)
	}
	c.must("memory_edit", args{"topic": "no-mocks", "key": "description", "value": "Use a real database: # always", "expected_hash": r["hash"]})
	c.fails("conflict", "memory_edit", args{"topic": "no-mocks", "section": "Why", "content": "Other.", "expected_hash": r["hash"]})
	c.fails("invalid", "memory_edit", args{"topic": "no-mocks", "old": "a", "key": "b"})
	s := c.must("memory_search", args{"query": "mocking"})
	if hits := s["hits"].([]any); len(hits) != 1 {
		t.Errorf("hits = %v", hits)
	}
	m := c.must("memory_move", args{"topic": "no-mocks", "to": "testing/no-mocks.md"})
	if m["path"] != "testing/no-mocks.md" {
		t.Errorf("moved = %v", m)
	}
	c.must("memory_log", args{"text": "something happened", "name": "event"})
	if ctx := c.must("memory_context", nil); !strings.Contains(ctx["text"].(string), "(testing/no-mocks.md)") {
		t.Errorf("context = %v", ctx["text"])
	}
	d := c.must("memory_delete", args{"topic": "no-mocks"})
	c.fails("not-found", "memory_read", args{"topic": "no-mocks"})
	c.must("memory_undo", args{"change": d["change"]})
	if l := c.must("memory_list", nil); l["total"] != float64(1) {
		t.Errorf("list = %v", l)
	}
	h := c.must("memory_history", nil)
	if n := len(h["changes"].([]any)); n != 7 {
		t.Errorf("%d changes", n)
	}
	one := c.must("memory_history", args{"change": d["change"]})
	if diff := one["changes"].([]any)[0].(map[string]any)["diff"].(string); !strings.Contains(diff, "-Do not mock.") {
		t.Errorf("diff = %s", diff)
	}
}

func TestArgumentsAreNamed(t *testing.T) {
	c := start(t, memory.Options{Env: env(t, nil)})
	for _, tt := range []struct {
		tool string
		args args
		want []string
	}{
		{"memory_write", args{"bogus": 1}, []string{`"bogus"`, `"name"`, `"body"`}},
		{"memory_read", args{"topic": 7}, []string{`"topic"`, "string"}},
		{"memory_list", args{"type": "diary"}, []string{`"type"`, `"feedback"`}},
		{"memory_list", args{"limit": 0}, []string{`"limit"`}},
		{"memory_read", args{"topic": "x", "store": "team"}, []string{`"store"`, `"auto"`}},
		{"memory_list", args{"cursor": "zz"}, []string{"cursor"}},
		{"memory_undo", args{"change": "nope"}, []string{"nope", "memory_history"}},
	} {
		text := c.fails("invalid", tt.tool, tt.args)["error"].(string)
		for _, w := range tt.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s %v: %q does not name %s", tt.tool, tt.args, text, w)
			}
		}
	}
}

func TestSecretsAreRefused(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	w := args{"name": "token", "description": "the token", "type": "reference", "body": "use " + token}
	e := env(t, nil)
	c := start(t, memory.Options{Env: e})
	p := c.fails("secret", "memory_write", w)
	if strings.Contains(fmt.Sprint(p), token) {
		t.Error("the refusal repeats the secret")
	}
	allowed := start(t, memory.Options{Env: e, AllowSecrets: true})
	if r := allowed.must("memory_write", w); len(r["guard"].([]any)) == 0 {
		t.Error("what was let through is not reported")
	}
}

func TestDailyLogMode(t *testing.T) {
	c := start(t, memory.Options{Env: env(t, nil), DailyLog: true})
	w := c.must("memory_write", args{"name": "seen", "description": "d", "type": "project", "body": "b"})
	if w["logged"] != true || !strings.HasPrefix(w["path"].(string), "logs/") || w["entry"] != nil {
		t.Errorf("written = %v", w)
	}
	c.must("memory_undo", args{"change": w["change"]})
	r := c.must("memory_read", args{"topic": w["path"]})
	if text := r["text"].(string); !strings.Contains(text, "- type: project") || !strings.Contains(text, "withdrawn") {
		t.Errorf("log = %q", text)
	}
}

func TestSwitchedOff(t *testing.T) {
	c := start(t, memory.Options{Env: env(t, map[string]string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})})
	if ctx := c.must("memory_context", nil); ctx["text"] != "" || !strings.Contains(fmt.Sprint(ctx["notes"]), "switched off") {
		t.Errorf("context = %v", ctx)
	}
	w := c.must("memory_write", args{"name": "x", "description": "d", "type": "user", "body": "b"})
	if !strings.Contains(fmt.Sprint(w["notes"]), "switched off") {
		t.Errorf("written = %v", w)
	}
}

func TestResources(t *testing.T) {
	c := start(t, memory.Options{Env: env(t, nil)})
	c.must("memory_write", args{"name": "a b", "description": "d", "type": "user", "body": "text", "path": "sub/ä b.md"})
	for uri, want := range map[string]string{
		"memory://auto/index":                     "(<sub/ä b.md>)",
		"memory://auto/topic/sub/%C3%A4%20b.md":   "text",
		"memory://auto/topic/sub%2F%C3%A4%20b.md": "text",
		"memory://auto/context":                   "## The index",
		"memory://auto/status":                    `"topics": 1`,
	} {
		r := c.request("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
		var got struct{ Contents []struct{ Text string } }
		if r.Error != nil || json.Unmarshal(r.Result, &got) != nil || !strings.Contains(got.Contents[0].Text, want) {
			t.Errorf("%s: %s %+v", uri, r.Result, r.Error)
		}
	}
	for _, uri := range []string{"memory://auto/topic/../x.md", "memory://auto/topic/%2e%2e%2fx.md", "memory://auto/topic/none.md",
		"memory://team/index", "memory://auto/log/2020-01-01", "memory://auto/nothing"} {
		if r := c.request("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); r.Error == nil || r.Error.Code != -32002 {
			t.Errorf("%s: %s %+v", uri, r.Result, r.Error)
		}
	}
}

func mustJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestLongTextsArePaged(t *testing.T) {
	e := env(t, nil)
	c := start(t, memory.Options{Env: e})
	for name, line := range map[string]string{"ascii": "a \"quoted\" line\n", "cjk": "記憶は会話を越えて残る。\n"} {
		body := strings.Repeat(line, 8000)
		c.must("memory_write", args{"name": name, "description": "long", "type": "reference", "body": body})
		var text strings.Builder
		cursor := any(nil)
		for pages := 0; ; pages++ {
			a := args{"topic": name}
			if cursor != nil {
				a["cursor"] = cursor
			}
			r := c.must("memory_read", a)
			if n := len([]rune(mustJSON(r["text"].(string)))); n > 50_000 {
				t.Errorf("%s: a page of %d characters", name, n)
			}
			text.WriteString(r["text"].(string))
			if cursor = r["nextCursor"]; cursor == nil {
				if pages == 0 {
					t.Errorf("%s: one page only", name)
				}
				break
			}
		}
		if !strings.HasSuffix(text.String(), body) {
			t.Errorf("%s: the pages do not make the text", name)
		}
	}
}
