package lspserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An index that nobody has saved makes no memory of all that somebody has.
func TestUnsavedIndexOfTooMuch(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	many := filepath.Join(e.home, "many")
	for i := range maxUnsaved + 1 {
		if i%1000 == 0 {
			if err := os.MkdirAll(filepath.Join(many, fmt.Sprint(i)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(many, fmt.Sprint(i-i%1000), fmt.Sprint(i, ".md")), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct{ dir, why string }{
		{"/", "root of the file system"}, {many, "a great many files"}, {filepath.Join(e.home, "new"), ""}, {e.dir, ""}, {e.home, "home folder"},
	} {
		rel, err := filepath.Rel(e.dir, c.dir)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		e.wait("nothing", func() bool { told = e.heard("window/showMessage"); return true })
		e.open(rel+"/note.md", "x\n")
		e.open(rel+"/MEMORY.md", "# 1\n")
		e.settled()
		for _, name := range []string{"note.md", "MEMORY.md"} {
			want := c.dir
			if c.why != "" {
				want = ""
			}
			if doc := e.server.documents().at(filepath.Join(c.dir, name)); doc == nil || doc.dir != want {
				t.Errorf("%d: %s lies in %+v, want %q", i, name, doc, want)
			}
		}
		if c.why != "" {
			e.wait("the message", func() bool { return e.heard("window/showMessage") == told+1 })
			if last := e.messages[len(e.messages)-1]; !strings.Contains(string(last.Params), c.why) {
				t.Errorf("%d: it says %s", i, last.Params)
			}
		}
		if c.dir == e.home { // saved, it is somebody's will
			e.write(rel+"/MEMORY.md", "# 1\n")
			e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri(rel + "/MEMORY.md")}})
			e.settled()
			for _, name := range []string{"note.md", "MEMORY.md"} {
				if doc := e.server.documents().at(filepath.Join(c.dir, name)); doc == nil || doc.dir != c.dir {
					t.Errorf("saved, %s lies in %+v", name, doc)
				}
			}
		}
		e.close(rel + "/note.md")
		e.close(rel + "/MEMORY.md")
	}
}
