package lspserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mem/core/text"
	"mem/diagnostics/diagtest"
)

// TestReviewAsAFile: an editor that asks for no documents of the server gets the review of a
// changed topic as a file that this user alone can read, anew when it asks again, even where
// something removed the folder meanwhile, and none is left once the server has ended.
func TestReviewAsAFile(t *testing.T) {
	w := newWorld(t, diagtest.Parse(t, []byte(sharing)))
	e := w.edit(text.UTF16)
	e.server.features.content = false
	shows := make(chan json.RawMessage, 1)
	e.mu.Lock()
	e.replies = map[string]func(json.RawMessage) string{"window/showDocument": func(p json.RawMessage) string { shows <- p; return `{"success":true}` }}
	e.mu.Unlock()
	e.bringAll(w, "style.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	review := func(path, part string) (file, content string) {
		t.Helper()
		e.commanded("openDifference", path, part)
		var shown struct{ URI string }
		if err := json.Unmarshal(<-shows, &shown); err != nil {
			t.Fatal(err)
		}
		file = must(pathOf(shown.URI))
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return file, string(b)
	}
	file, content := review("style.md", "")
	for _, words := range []string{"always", "no jargon", "News.", `the section "Rules": changed by both`} {
		if !strings.Contains(content, words) {
			t.Errorf("%q is not in\n%s", words, content)
		}
	}
	if rel, err := filepath.Rel(filepath.Join(w.env.StateDir, "review"), file); err != nil || !filepath.IsLocal(rel) {
		t.Errorf("it lies at %s", file)
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700 | os.ModeDir, filepath.Dir(filepath.Dir(file)): 0o700 | os.ModeDir} {
			if info, err := os.Lstat(name); err != nil || info.Mode() != want {
				t.Errorf("%s: %v %v", name, info.Mode(), err)
			}
		}
	}
	if _, content = review("style.md", `the section "Rules"`); strings.Contains(content, "News.") {
		t.Errorf("another part is in\n%s", content)
	}
	// Another server takes the folder of one that was idle for a day for that of a killed one.
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	e.change("style.md", strings.Replace(w.texts["style.md"], "always", "without end", 1))
	if _, content = review("style.md", ""); !strings.Contains(content, "without end") {
		t.Errorf("what was typed is not in\n%s", content)
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(w.env.StateDir, "review")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// filesBelow gives the files of a folder by their paths.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		out[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
