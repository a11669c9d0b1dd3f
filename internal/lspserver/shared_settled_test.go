package lspserver

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// noted gives what is noted of both sides of a shared memory.
func noted(t *testing.T, w *world) string {
	t.Helper()
	var all string
	err := filepath.WalkDir(w.env.StateDir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(p) == "sync.json" {
			b, _ := os.ReadFile(p) // it may be replaced just now
			all += string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSavedWhileOthersPull: what was saved while another program held what is noted is noted
// once it lets go.
func TestSavedWhileOthersPull(t *testing.T) {
	t.Parallel()
	w, e := shared(t, sharing)
	e.bringAll(w, "style.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	all := e.lightbulb("style.md", span{point{6, 0}, point{6, 0}}, "")
	got := e.made(e.take(titled(t, all, `Take theirs of the section "Rules"`)))["style.md"]
	var lock string
	err := filepath.WalkDir(w.env.StateDir, func(p string, _ fs.DirEntry, err error) error {
		if filepath.Base(p) == "sync.json" {
			lock = filepath.Join(filepath.Dir(p), "lock")
		}
		return err
	})
	if err != nil || lock == "" {
		t.Fatalf("no state: %v", err)
	}
	other := flock.New(lock)
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	before := noted(t, w)
	e.change("style.md", got)
	e.write("style.md", got)
	e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri("style.md")}})
	start := time.Now()
	e.ask("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": e.uri("style.md")}, "position": point{0, 0}}, nil)
	if waited := time.Since(start); waited > settleWithin+patience/2 {
		t.Errorf("the next message waits %v", waited)
	}
	if noted(t, w) != before {
		t.Fatal("it is noted past the lock")
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	e.wait("the note of what was saved", func() bool {
		now := noted(t, w) != before
		if !now {
			time.AfterFunc(10*time.Millisecond, e.nudge)
		}
		return now
	})
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}
