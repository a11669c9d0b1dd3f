package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memory"
	"mem/core/settings"
)

// personal writes an agent's memory with one topic for the team and one about a person.
func personal(t *testing.T, e settings.Env) {
	t.Helper()
	dir := filepath.Join(e.Cwd, ".claude", "agent-memory", "reviewer")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for p, s := range map[string]string{
		"MEMORY.md": "- [build](build.md) — b\n- [jane](jane.md) — j\n",
		"build.md":  "---\nname: build\ndescription: b\ntype: project\n---\n\nRun make.\n",
		"jane.md":   "---\nname: jane\ndescription: j\ntype: user\n---\n\nMail jane.doe@company.io.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, p), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func published(e settings.Env) []string {
	var names []string
	list, _ := os.ReadDir(filepath.Join(e.Cwd, ".claude", "agent-memory-snapshots", "reviewer")) // none is none
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names
}

// TestPublishAsksAPerson: with a client that can ask, nothing goes to the team before a
// person said so, and what is personal only with their word; without one, the agent's
// confirm publishes, and nothing personal.
func TestPublishAsksAPerson(t *testing.T) {
	const yes, no = `{"action":"accept","content":{"publish":true}}`, `{"action":"decline"}`
	allow := []string{"jane.md:user-topic", "jane.md:email"}
	for _, c := range []struct {
		name, answer string
		allow        []string
		want         int // files
	}{
		{"yes", yes, nil, 3},
		{"no", no, nil, 0},
		{"yes to an empty form", `{"action":"accept","content":{}}`, nil, 0},
		{"yes, personal", yes, allow, 4},
		{"no, personal", no, allow, 0},
		{"nobody to ask", "", nil, 3},
		{"nobody to ask, personal", "", allow, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := env(t, nil)
			personal(t, e)
			s := startWith(t, memory.Options{Env: e}, false, c.answer, func(q string) bool {
				return strings.Contains(q, "build.md added") && strings.Contains(q, "PERSONAL: jane.md") == (c.allow != nil)
			})
			a := args{"agent": "reviewer", "confirm": true}
			if c.allow != nil {
				a["allow"] = c.allow
			}
			if dry := s.must("snapshot_publish", args{"agent": "reviewer"}); dry["dryRun"] != true || len(published(e)) != 0 {
				t.Fatalf("looking published: %v", dry)
			}
			if c.want == 0 {
				r := s.fails("needs-person", "snapshot_publish", a)
				if why := r["error"].(string); !strings.Contains(why, "mem-mcp snapshot publish reviewer") || c.allow != nil && !strings.Contains(why, "--allow jane.md:email") {
					t.Errorf("%v", r)
				}
			} else {
				s.must("snapshot_publish", a)
			}
			if got := published(e); len(got) != c.want {
				t.Errorf("published %v, want %d files", got, c.want)
			}
		})
	}
}

// TestPublishAsksStateless: the same without a session: the question comes back as a result,
// and the answer holds for what the person was shown and nothing else.
func TestPublishAsksStateless(t *testing.T) {
	e := env(t, nil)
	personal(t, e)
	c := start(t, memory.Options{Env: e})
	call := func(more string) map[string]any {
		t.Helper()
		r := c.request("tools/call", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},`+
			`"name":"snapshot_publish","arguments":{"agent":"reviewer","confirm":true}`+more+`}`)
		var out map[string]any
		if r.Error != nil {
			t.Fatalf("%+v", r.Error)
		}
		if err := json.Unmarshal(r.Result, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	answer := func(state any) string {
		return fmt.Sprintf(`,"requestState":%q,"inputResponses":{"publish-snapshot":{"action":"accept","content":{"publish":true}}}`, state)
	}
	if r := call(answer("made up")); r["requestState"] == nil || len(published(e)) != 0 {
		t.Fatalf("an answer without a question: %v", r)
	}
	asked := call("")
	if asked["requestState"] == nil || len(published(e)) != 0 {
		t.Fatalf("%v", asked)
	}
	// The memory changes while the person reads.
	file := filepath.Join(e.Cwd, ".claude", "agent-memory", "reviewer", "build.md")
	if err := os.WriteFile(file, []byte("---\nname: build\ndescription: b\ntype: project\n---\n\nSomething else.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := call(answer(asked["requestState"]))
	if r["isError"] != true || !strings.Contains(fmt.Sprint(r["structuredContent"]), "changed since") || len(published(e)) != 0 {
		t.Fatalf("what the person did not see was published: %v", r)
	}
	asked = call("")
	if r := call(answer(asked["requestState"])); r["isError"] == true || len(published(e)) != 3 {
		t.Errorf("%v %v", r, published(e))
	}
}
