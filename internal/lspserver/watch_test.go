package lspserver

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.lsp.dev/uri"
)

// watching is a client that can be asked to watch files below a folder.
func watching(relative bool, folders ...string) string {
	all := []string{}
	for _, f := range folders {
		all = append(all, fmt.Sprintf(`{"uri":%q,"name":"x"}`, uri.File(f)))
	}
	return fmt.Sprintf(`{"processId":null,"rootUri":null,"workspaceFolders":[%s],"capabilities":{"workspace":{
		"didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":%v}}}}`, strings.Join(all, ","), relative)
}

// asked gives what the client is asked to watch by the n-th registration.
func (e *editor) asked(n int) (id, all string) {
	e.t.Helper()
	var p struct {
		Registrations []struct {
			ID              string
			Method          string
			RegisterOptions struct {
				Watchers []struct{ GlobPattern json.RawMessage }
			}
		}
	}
	m := e.requested("client/registerCapability", n)
	if err := json.Unmarshal(m.Params, &p); err != nil || len(p.Registrations) != 1 || p.Registrations[0].Method != "workspace/didChangeWatchedFiles" {
		e.t.Fatalf("%s: %v", m.Params, err)
	}
	for _, w := range p.Registrations[0].RegisterOptions.Watchers {
		all += string(w.GlobPattern) + "\n"
	}
	return p.Registrations[0].ID, all
}

// A client watches the folders that are open in it. The memory of a project mostly lies
// elsewhere, so it is asked to watch there as long as something of it is open.
func TestWatchesOutsideTheWorkspace(t *testing.T) {
	files := map[string]string{"MEMORY.md": "# Memory\n\n- [a](a.md) — what a is\n", "a.md": "---\nname: a\ndescription: What a is\ntype: reference\n---\n\nA.\n"}
	e := start(t, files)
	var r json.RawMessage
	e.ask("initialize", watching(true, filepath.Join(e.home, "project")), &r)
	e.notify("initialized", "{}")
	first, everywhere := e.asked(0)
	if strings.Contains(everywhere, "baseUri") {
		t.Errorf("asked to watch everywhere: %s", everywhere)
	}
	e.open("MEMORY.md", files["MEMORY.md"])
	e.open("a.md", files["a.md"])
	id, there := e.asked(1)
	if want := fmt.Sprintf(`{"baseUri":%q,"pattern":"**/*.md"}`, uri.File(e.dir)); !strings.Contains(there, want) || !strings.Contains(there, `"**/.mem.yaml"`) || id == first {
		t.Errorf("asked to watch there: %s, want %s", there, want)
	}
	e.close("a.md")
	e.close("MEMORY.md")
	if m := e.requested("client/unregisterCapability", 0); !strings.Contains(string(m.Params), fmt.Sprintf("%q", id)) {
		t.Errorf("not watched any more: %s", m.Params)
	}
	e.open("MEMORY.md", files["MEMORY.md"])
	if again, _ := e.asked(2); again == id {
		t.Error("the same name twice")
	}
}

// It is asked once about what lies in its folders, and where it cannot be asked more.
func TestWatchesInTheWorkspace(t *testing.T) {
	files := map[string]string{"MEMORY.md": "# Memory\n\n- [a](missing.md) — what a is\n"}
	for what, capabilities := range map[string]func(e *editor) string{
		"in a folder":               func(e *editor) string { return watching(true, filepath.Dir(e.dir)) },
		"it is the folder":          func(e *editor) string { return watching(true, e.dir) },
		"without relative patterns": func(*editor) string { return watching(false) },
	} {
		t.Run(what, func(t *testing.T) {
			e := start(t, files)
			var r json.RawMessage
			e.ask("initialize", capabilities(e), &r)
			e.notify("initialized", "{}")
			e.open("MEMORY.md", files["MEMORY.md"])
			e.until("MEMORY.md", "a broken link", has("broken-link"))
			e.asked(0) // it is asked beside other work, and not any more once the server ends
			if err := e.quit(); err != nil {
				t.Error(err)
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			n := 0
			for _, m := range e.messages {
				if m.Method == "client/registerCapability" {
					n++
				}
			}
			if n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}
