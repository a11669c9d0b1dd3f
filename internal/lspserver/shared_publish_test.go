package lspserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/text"
	"mem/diagnostics/diagtest"
)

// A publish shows what would go to the team, and writes what was shown.
func TestPublishAsks(t *testing.T) {
	w, e := shared(t, sharing)
	snapshot := filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer")
	e.bringAll(w, "MEMORY.md", "own.md")
	e.until("MEMORY.md", "news", has("snapshot-newer"))
	e.until("own.md", "a topic that is not published", has("snapshot-unpublished"))

	if m := e.command("publish"); m.Error == nil || !strings.Contains(m.Error.Message, "conflict") {
		t.Errorf("a publish over a conflict: %+v", m)
	}
	e.change("own.md", w.texts["own.md"]+"More.\n")
	if m := e.command("publish", "own.md"); m.Error == nil || !strings.Contains(m.Error.Message, "not saved") {
		t.Errorf("a publish of what is not saved: %+v", m)
	}
	e.change("own.md", w.texts["own.md"])

	all := e.lightbulb("own.md", span{}, "")
	titled(t, all, "Publish own.md to the team…")
	answers := make(chan string, 3)
	e.reply("window/showMessageRequest", func(json.RawMessage) string { return <-answers })
	shows := make(chan json.RawMessage, 1)
	e.reply("window/showDocument", func(p json.RawMessage) string { shows <- p; return `{"success":true}` })
	answers <- `{"title":"Cancel"}`
	e.commanded("publish", "own.md")
	if m := e.requested("window/showMessageRequest", 0); !strings.Contains(string(m.Params), "own.md added") || !strings.Contains(string(m.Params), "nothing was written") {
		t.Errorf("it shows %s", m.Params)
	}
	answers <- `{"title":"Show the difference"}`
	e.commanded("publish", "own.md")
	var shown struct{ URI string }
	if err := json.Unmarshal(<-shows, &shown); err != nil {
		t.Fatal(err)
	}
	file := must(pathOf(shown.URI))
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o077 != 0 || !strings.HasPrefix(file, w.env.StateDir) {
		t.Fatalf("%s: %v %v", file, info, err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "+Here alone.") {
		t.Errorf("the difference: %s %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(snapshot, "own.md")); err == nil {
		t.Fatal("it was published before anybody said so")
	}
	answers <- `{"title":"Publish"}`
	e.wait("the published topic", func() bool {
		_, err := os.Stat(filepath.Join(snapshot, "own.md"))
		if err != nil {
			go e.nudge()
		}
		return err == nil
	})
	e.until("own.md", "nothing unpublished", lacks("snapshot-unpublished"))
	if err := e.quit(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the temporary file is left behind")
	}
}

// nudge has what waits look again.
func (e *editor) nudge() { e.mu.Lock(); e.changed.Broadcast(); e.mu.Unlock() }

// A client that cannot ask publishes nothing.
func TestPublishUnseen(t *testing.T) {
	w := newWorld(t, diagtest.Parse(t, []byte(sharing)))
	e := w.edit(text.UTF16)
	e.mu.Lock()
	e.replies = map[string]func(json.RawMessage) string{"window/showMessageRequest": func(json.RawMessage) string { return notServed }}
	e.mu.Unlock()
	e.bringAll(w, "MEMORY.md")
	e.until("MEMORY.md", "news", has("snapshot-newer"))
	e.commanded("publish", "own.md")
	if m := e.requested("window/showMessage", 0); !strings.Contains(string(m.Params), "mem-mcp snapshot publish") || !strings.Contains(string(m.Params), "it is not served") {
		t.Errorf("it says %s", m.Params)
	}
	if _, err := os.Stat(filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer", "own.md")); err == nil {
		t.Error("it was published unseen")
	}
}
