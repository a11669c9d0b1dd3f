package lspserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (e *editor) warnings() []string {
	var out []string
	for _, m := range e.messages {
		if m.Method == "window/showMessage" {
			var p struct {
				Type    int    `json:"type"`
				Message string `json:"message"`
			}
			if json.Unmarshal(m.Params, &p) == nil && p.Type == 2 {
				out = append(out, p.Message)
			}
		}
	}
	return out
}

func (e *editor) touch(names ...string) {
	e.t.Helper()
	var all []any
	for _, n := range names {
		all = append(all, map[string]any{"uri": e.uri(n), "type": 2})
	}
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": all})
}

func (e *editor) warned(n int, words string) {
	e.t.Helper()
	e.wait("the warning: "+words, func() bool {
		w := e.warnings()
		return len(w) == n && strings.Contains(w[n-1], words)
	})
}

// A file that another program changes under unsaved edits is said so, once for
// each change, and only then.
func TestChangedUnderUnsavedEdits(t *testing.T) {
	e := start(t, map[string]string{"a.md": bom + "one\r\ntwo\r\n"}, testEngine)
	e.initialize(capable)
	quiet := func(what string) {
		t.Helper()
		e.touch("a.md")
		e.settled()
		time.Sleep(2 * settleAfter)
		e.touch("a.md")
		e.settled()
		time.Sleep(settleAfter)
		e.mu.Lock()
		defer e.mu.Unlock()
		if w := e.warnings(); len(w) > 0 {
			t.Fatalf("%s: %q", what, w)
		}
	}
	e.open("a.md", "one\ntwo\n") // an editor takes the mark and the line ends away
	quiet("opened")
	e.write("a.md", bom+"one\r\ntwo\r\n")
	quiet("touched")
	e.write("a.md", "three\n")
	quiet("changed with nothing unsaved: the editor loads it again")
	e.change("a.md", "three\n")
	quiet("loaded again")
	e.edit("a.md", replace(0, 0, 0, 0, "my "))
	quiet("edited")
	e.write("a.md", "my three\n") // the editor saves; the file is seen before the editor says so
	quiet("saved")
	e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri("a.md")}})
	quiet("saved and said so")

	e.edit("a.md", replace(0, 0, 0, 0, "again "))
	e.write("a.md", "somebody else's\n")
	e.touch("a.md")
	e.warned(1, "a.md has changed on disk while it has unsaved edits here")
	e.edit("a.md", replace(0, 0, 0, 0, "and "))
	e.touch("a.md")
	time.Sleep(3 * settleAfter)
	e.warned(1, "a.md") // once
	e.write("a.md", "somebody else's second\n")
	e.edit("a.md", replace(0, 0, 0, 0, "and ")) // without an event
	e.warned(2, "a.md has changed on disk")
	if err := os.Remove(filepath.Join(e.dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	e.touch("a.md")
	e.warned(3, "deleted")
	// What is unsaved is still there, and is what is looked at.
	e.edit("a.md", replace(0, 0, 0, 0, "bad "))
	if found := e.shown("a.md", e.version); !has("word")(found) {
		t.Errorf("found %q", codes(found))
	}
}

// Text that an editor brings back from its last session is unsaved from the start.
func TestOpenedWithUnsavedEdits(t *testing.T) {
	e := start(t, map[string]string{"a.md": "on disk\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", "unsaved\n")
	e.settled()
	e.write("a.md", "on disk, changed\n")
	e.touch("a.md")
	e.warned(1, "a.md has changed on disk")
	e.close("a.md")
	e.open("a.md", "on disk, changed\n")
	e.touch("a.md")
	e.settled()
}
