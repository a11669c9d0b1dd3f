package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mem/core/memory"
	"mem/core/settings"
	"mem/tools"
)

// calls is one call of every tool of the toolset memory, in an order in which each has
// something to do; "with" names what must be in the answer. A tool that is not here
// fails the test.
var calls = []struct {
	tool string
	args func(last map[string]map[string]any) args
	want func(dir string, r map[string]any) bool
}{
	{"memory_write", func(map[string]map[string]any) args {
		return args{"name": "no-mocks", "description": "Tests use a real database", "type": "feedback", "body": "Do not mock; once burnt.\n\n**Why:** it hid a bug.\n\n**How to apply:** always."}
	}, func(dir string, r map[string]any) bool { return r["created"] == true && r["directory"] == dir }},
	{"memory_context", func(map[string]map[string]any) args { return args{} },
		func(dir string, r map[string]any) bool {
			return strings.Contains(r["text"].(string), "no-mocks.md") && r["directory"] == dir
		}},
	{"memory_list", func(map[string]map[string]any) args { return args{} }, func(dir string, r map[string]any) bool { return r["total"] == 1.0 && r["directory"] == dir }},
	{"memory_read", func(map[string]map[string]any) args { return args{"topic": "no-mocks"} }, func(_ string, r map[string]any) bool { return strings.Contains(r["text"].(string), "once burnt") }},
	{"memory_search", func(map[string]map[string]any) args { return args{"query": "mocking"} }, func(_ string, r map[string]any) bool { return r["total"] == 1.0 }},
	{"memory_edit", func(last map[string]map[string]any) args {
		return args{"topic": "no-mocks", "old": "once burnt", "new": "twice burnt", "expected_hash": last["memory_read"]["hash"]}
	}, func(dir string, r map[string]any) bool {
		b, err := os.ReadFile(filepath.Join(dir, "no-mocks.md"))
		return err == nil && strings.Contains(string(b), "twice burnt")
	}},
	{"memory_move", func(map[string]map[string]any) args { return args{"topic": "no-mocks", "to": "testing/no-mocks.md"} },
		func(dir string, _ map[string]any) bool { return exists(filepath.Join(dir, "testing", "no-mocks.md")) }},
	{"memory_log", func(map[string]map[string]any) args { return args{"text": "shipped"} },
		func(dir string, r map[string]any) bool { return exists(filepath.Join(dir, r["path"].(string))) }},
	{"memory_check", func(map[string]map[string]any) args { return args{} }, func(dir string, r map[string]any) bool { return r["directory"] == dir && r["files"].(float64) >= 2 }},
	{"memory_fix", func(map[string]map[string]any) args { return args{"dry_run": true} }, func(dir string, r map[string]any) bool { return r["directory"] == dir }},
	{"memory_history", func(map[string]map[string]any) args { return args{} }, func(_ string, r map[string]any) bool { return len(r["changes"].([]any)) == 4 }},
	{"memory_delete", func(map[string]map[string]any) args { return args{"topic": "no-mocks"} },
		func(dir string, _ map[string]any) bool { return !exists(filepath.Join(dir, "testing", "no-mocks.md")) }},
	{"memory_undo", func(last map[string]map[string]any) args { return args{"change": last["memory_delete"]["change"]} },
		func(dir string, _ map[string]any) bool { return exists(filepath.Join(dir, "testing", "no-mocks.md")) }},
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// places are all stores of an environment, with their directories.
func places(e settings.Env) map[string]string {
	return map[string]string{
		"agent/reviewer/project": filepath.Join(e.Cwd, ".claude", "agent-memory", "reviewer"),
		"agent/reviewer/local":   filepath.Join(e.Cwd, ".claude", "agent-memory-local", "reviewer"),
		"agent/my.tester/user":   filepath.Join(e.Home, ".claude", "agent-memory", "my-tester"),
	}
}

// TestEveryToolOnEveryStore calls every tool of the toolset on every kind of store: the
// project's, which is the one without a name, and all scopes of agents.
func TestEveryToolOnEveryStore(t *testing.T) {
	e := env(t, nil)
	c := start(t, memory.Options{Env: e})
	var listed []string
	for _, s := range calls {
		listed = append(listed, s.tool)
	}
	for _, set := range tools.Toolsets() {
		if set.Name != "memory" {
			continue
		}
		for _, name := range set.Names() {
			if name != "memory_stores" && !slices.Contains(listed, name) {
				t.Errorf("%s is not called on other stores", name)
			}
		}
	}
	auto := c.must("memory_context", nil)["directory"].(string)
	stores := places(e)
	stores["auto"] = auto
	for store, dir := range stores {
		t.Run(store, func(t *testing.T) {
			last := map[string]map[string]any{}
			for _, s := range calls {
				a := s.args(last)
				a["store"] = store
				r := c.must(s.tool, a)
				if last[s.tool] = r; !s.want(dir, r) {
					t.Errorf("%s: %v", s.tool, r)
				}
			}
			for _, uri := range []string{"index", "context", "status", "topic/testing/no-mocks.md"} {
				r := c.request("resources/read", fmt.Sprintf(`{"uri":%q}`, "memory://"+url.PathEscape(store)+"/"+uri))
				if r.Error != nil || !strings.Contains(string(r.Result), "mocks") && uri != "status" {
					t.Errorf("%s: %v %s", uri, r.Error, r.Result)
				}
				if uri == "status" && !strings.Contains(string(r.Result), store[:4]) {
					t.Errorf("status: %s", r.Result)
				}
			}
		})
	}
	for _, dir := range stores {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 { // MEMORY.md, testing, logs
			t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
	l := c.must("memory_stores", nil)
	if got := l["stores"].([]any); len(got) != 4 {
		t.Errorf("stores: %v", got)
	}
	for _, x := range l["stores"].([]any) {
		if h := x.(map[string]any)["health"].(map[string]any); h["topics"] != 1.0 || h["logs"] != 1.0 {
			t.Errorf("%v", x)
		}
	}
	one := c.must("memory_stores", args{"agent": "my.tester"})
	if got := one["stores"].([]any); len(got) != 1 || got[0].(map[string]any)["store"] != "agent/my-tester/user" {
		t.Errorf("one agent: %v", got)
	}
}

func TestHostileStores(t *testing.T) {
	e := env(t, nil)
	c := start(t, memory.Options{Env: e})
	for _, store := range []string{"team", "agent/../project", "agent/x", "agent/a/b/c", "agent/.git/project", "agent/con/local", "extra/", "extra/none", "agent/x\u202e/user", "../x"} {
		for _, s := range calls {
			a := s.args(map[string]map[string]any{"memory_read": {"hash": "x"}, "memory_delete": {"change": "x"}})
			a["store"] = store
			if p := c.call(s.tool, a); !p.IsError {
				t.Errorf("%s on %q: %v", s.tool, store, p.StructuredContent)
			}
		}
		r := c.request("resources/read", fmt.Sprintf(`{"uri":%q}`, "memory://"+url.PathEscape(store)+"/index"))
		if r.Error == nil {
			t.Errorf("a resource of %q: %s", store, r.Result)
		}
	}
	if exists(filepath.Join(e.Cwd, ".claude")) {
		t.Error("something was made")
	}
}

// TestFoldersOfTheConfiguration: they are read and searched, offered at the start, and
// never written.
func TestFoldersOfTheConfiguration(t *testing.T) {
	e := env(t, nil)
	hb := filepath.Join(e.Home, "handbook")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(hb, "deploys.md"), "---\nname: deploys\ndescription: How the team deploys\ntype: reference\n---\n\nThrough the pipeline, never by hand.\n")
	write(filepath.Join(hb, "bad.md"), "---\nname: bad\n")
	write(e.ConfigFile(), "stores:\n  handbook: ~/handbook\n  gone: ~/gone\n")
	c := start(t, memory.Options{Env: e})
	c.must("memory_write", args{"name": "deploy-day", "description": "When we deploy", "type": "project", "body": "On Mondays."})
	c.must("memory_write", args{"name": "deploy-review", "description": "What to look at in a deploy", "type": "project", "body": "The migrations.", "store": "agent/reviewer/project"})

	ctx := c.must("memory_context", nil)["text"].(string)
	if !strings.Contains(ctx, "`extra/handbook`") || !strings.Contains(ctx, "2 topics") || !strings.Contains(ctx, "`extra/gone`") {
		t.Errorf("the context does not offer the folders: %s", ctx)
	}
	if l := c.must("memory_list", args{"store": "extra/handbook"}); l["total"] != 2.0 {
		t.Errorf("%v", l)
	}
	if r := c.must("memory_read", args{"store": "extra/handbook", "topic": "deploys"}); !strings.Contains(r["text"].(string), "pipeline") {
		t.Errorf("%v", r)
	}
	c.must("memory_context", args{"store": "extra/handbook"})
	c.must("memory_check", args{"store": "extra/handbook"})
	f := c.must("memory_search", args{"query": "deploy", "stores": "all"})
	var from []string
	for _, h := range f["hits"].([]any) {
		from = append(from, h.(map[string]any)["store"].(string))
	}
	slices.Sort(from)
	if want := []string{"agent/reviewer/project", "auto", "extra/handbook"}; !slices.Equal(from, want) {
		t.Errorf("hits from %q", from)
	}
	if f := c.must("memory_search", args{"query": "deploy", "store": "extra/handbook"}); f["total"] != 1.0 {
		t.Errorf("%v", f)
	}
	before, err := os.ReadDir(hb)
	if err != nil {
		t.Fatal(err)
	}
	for tool, a := range map[string]args{
		"memory_write": {"name": "x", "description": "d", "type": "project", "body": "b"}, "memory_edit": {"topic": "deploys", "old": "never", "new": "always"},
		"memory_delete": {"topic": "deploys"}, "memory_move": {"topic": "deploys", "to": "y.md"}, "memory_log": {"text": "x"}, "memory_fix": {}, "memory_undo": {"change": "0000000000000"},
	} {
		a["store"] = "extra/handbook"
		if p := c.fails("invalid", tool, a); !strings.Contains(p["error"].(string), "only read") {
			t.Errorf("%s: %v", tool, p)
		}
	}
	if after, err := os.ReadDir(hb); err != nil || len(after) != len(before) {
		t.Errorf("something was written: %v, %v", after, err)
	}
}

// TestServedStore: a server that is started for an agent's store works on it where a call
// names none, and its sessions stay the project's.
func TestServedStore(t *testing.T) {
	e := env(t, nil)
	c := start(t, memory.Options{Env: e, Store: "agent/reviewer/project"})
	w := c.must("memory_write", args{"name": "style", "description": "How we write", "type": "project", "body": "Short."})
	if want := places(e)["agent/reviewer/project"]; w["directory"] != want {
		t.Errorf("written to %v", w["directory"])
	}
	if l := c.must("memory_list", args{"store": "auto"}); l["total"] != 0.0 {
		t.Errorf("auto: %v", l)
	}
	c.must("transcript_append", args{"entries": []map[string]any{{"role": "user", "text": "hello"}}})
	if l := c.must("transcript_list", nil); len(l["sessions"].([]any)) != 1 {
		t.Errorf("%v", l)
	}
	p := start(t, memory.Options{Env: e})
	if l := p.must("transcript_list", nil); len(l["sessions"].([]any)) != 1 {
		t.Errorf("the session does not belong to the project: %v", l)
	}
}

// TestManyStores: the server keeps a bounded number of stores opened, and forgets none.
func TestManyStores(t *testing.T) {
	e := env(t, nil)
	s := New(Options{Memory: memory.Options{Env: e}, Version: "test"})
	ctx := context.Background()
	first, err := s.open(ctx, "agent/a0/user")
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxStores + 5 {
		m, err := s.open(ctx, fmt.Sprintf("agent/a%d/user", i))
		if err != nil || m.StoreName() != fmt.Sprintf("agent/a%d/user", i) {
			t.Fatal(m, err)
		}
	}
	if n := s.others.recent.Len(); n != maxStores || len(s.others.byName) != n {
		t.Errorf("%d are opened", n)
	}
	again, err := s.open(ctx, "agent/a0/user")
	if err != nil || again == first || again.Location.Directory != first.Location.Directory {
		t.Errorf("%v, %v", again, err)
	}
	if same, err := s.open(ctx, "agent/a0/user"); err != nil || same != again {
		t.Error("a store is opened twice", err)
	}
	if same, err := s.open(ctx, "agent/a.0/user"); err != nil || same == again {
		t.Error("another agent has the same store", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// TestSplitStoresAreTold: the result of memory_stores has the command that merges.
func TestSplitStoresAreTold(t *testing.T) {
	e := env(t, nil)
	dir := filepath.Join(e.Cwd, "sub", ".claude", "agent-memory", "reviewer")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "style.md"), []byte("---\nname: style\ndescription: d\ntype: project\n---\n\nShort.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, memory.Options{Env: e})
	r := c.call("memory_stores", nil)
	var split []struct{ Store, Kind, Merge string }
	b, err := json.Marshal(r.StructuredContent["split"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &split); err != nil || len(split) != 1 {
		t.Fatalf("%s, %v", b, err)
	}
	if x := split[0]; x.Store != "agent/reviewer/project" || x.Kind != "subdirectory" || x.Merge != "mem-mcp stores merge "+dir || !strings.Contains(r.Content[0].Text, x.Merge) {
		t.Errorf("%+v\n%s", x, r.Content[0].Text)
	}
}

// TestStoresAreBounded: whatever a checkout holds, the answer has the size that clients
// take, and says what it leaves out.
func TestStoresAreBounded(t *testing.T) {
	e := env(t, nil)
	for i := range 510 {
		name := fmt.Sprintf("%s-%d", strings.Repeat("代理", 14), i)
		dirs := []string{filepath.Join(e.Cwd, ".claude", "agent-memory", name), filepath.Join(e.Cwd, fmt.Sprint("sub", i%50), ".claude", "agent-memory", name)}
		if i >= 100 {
			dirs = dirs[:1]
		}
		for _, dir := range dirs {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		agent := filepath.Join(e.Cwd, ".claude", "agents", fmt.Sprintf("%d.md", i))
		if err := os.MkdirAll(filepath.Dir(agent), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(agent, fmt.Appendf(nil, "---\nname: \"a%d\x1b[31m\"\nmemory: local\n---\n", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t, memory.Options{Env: e})
	r := c.call("memory_stores", nil)
	if r.IsError {
		t.Fatal(r.Content[0].Text)
	}
	b, err := json.Marshal(r)
	if err != nil || len([]rune(string(b))) > 50_000 || strings.Contains(r.Content[0].Text, "\x1b") {
		t.Errorf("%d characters, %v", len([]rune(string(b))), err)
	}
	if r.StructuredContent["moreStores"].(float64) < 400 || r.StructuredContent["moreSplit"].(float64) < 50 {
		t.Errorf("more: %v %v", r.StructuredContent["moreStores"], r.StructuredContent["moreSplit"])
	}
	if notes := fmt.Sprint(r.StructuredContent["notes"]); !strings.Contains(notes, "more than 500 agents") {
		t.Errorf("notes %s", notes)
	}
}
