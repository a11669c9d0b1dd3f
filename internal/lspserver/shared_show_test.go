package lspserver

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// The difference is a document that the client asks for, where it can.
func TestOpenDifference(t *testing.T) {
	w, e := shared(t, sharing)
	shows := make(chan json.RawMessage, 1)
	e.reply("window/showDocument", func(p json.RawMessage) string { shows <- p; return `{"success":true}` })
	e.bringAll(w, "style.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	e.commanded("openDifference", "style.md", `the section "Rules"`)
	var shown struct{ URI string }
	if err := json.Unmarshal(<-shows, &shown); err != nil || !strings.HasPrefix(shown.URI, "mem-review:///0/reviewer/style.md") {
		t.Fatal(shown, err)
	}
	content := func() string {
		var r struct{ Text string }
		e.ask("workspace/textDocumentContent", map[string]any{"uri": shown.URI}, &r)
		return r.Text
	}
	got := content()
	for _, words := range []string{"the section \"Rules\": changed by both", "Short sentences.  ", "Short sentences, always.", "Short sentences, no jargon."} {
		if !strings.Contains(got, words) {
			t.Errorf("%q is not in\n%s", words, got)
		}
	}
	if strings.Contains(got, "News.") {
		t.Errorf("another part is in\n%s", got)
	}
	line := ""
	for l := range strings.Lines(got) {
		if strings.Contains(l, "always") {
			line = l
		}
	}
	if !strings.Contains(line, "no jargon") {
		t.Errorf("mine and theirs do not stand side by side:\n%s", got)
	}
	// It is asked for again when something was typed.
	e.change("style.md", strings.Replace(w.texts["style.md"], "always", "without end", 1))
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri("style.md"), "type": 2}}})
	if got := content(); !strings.Contains(got, "without end") {
		t.Errorf("what was typed is not in\n%s", got)
	}
	e.commanded("review")
	if err := json.Unmarshal(<-shows, &shown); err != nil {
		t.Fatal(err)
	}
	got = content()
	for _, words := range []string{"tests.md", "own.md", "News.", "diverged"} {
		if !strings.Contains(got, words) {
			t.Errorf("%q is not in\n%s", words, got)
		}
	}
	if m := e.answer(e.post("workspace/textDocumentContent", map[string]any{"uri": "other:/x"})); m.Error == nil {
		t.Error("another scheme is served")
	}
}

// The hover names who wrote what the team has, and when.
func TestHoverNamesWhoWrote(t *testing.T) {
	need.Program(t, "git")
	w, e := shared(t, sharing)
	if err := os.RemoveAll(filepath.Join(w.top, ".git")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", ".claude/agent-memory-snapshots"}, {"commit", "-qm", "No *jargon*"}} {
		c := exec.Command("git", args...)
		c.Dir = w.top
		c.Env = append(os.Environ(), "HOME="+w.env.Home, "GIT_CONFIG_GLOBAL="+filepath.Join(w.env.Home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
			"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_AUTHOR_DATE=2026-11-29T10:00:00Z", "GIT_COMMITTER_DATE=2026-11-29T10:00:00Z")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	hover := func(name string, at point) string {
		var h *struct{ Contents struct{ Value string } }
		e.ask("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": at}, &h)
		if h == nil {
			return ""
		}
		return h.Contents.Value
	}
	e.bringAll(w, "style.md", "own.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	if got := hover("style.md", point{8, 3}); !strings.Contains(got, "The team changed this differently:** Ann, 2026-11-29 10\\:00 UTC") || !strings.Contains(got, `No \*jargon\*`) {
		t.Errorf("of a conflict: %q", got)
	}
	if got := hover("own.md", point{0, 0}); !strings.Contains(got, "does not have this topic") {
		t.Errorf("of a topic that is here alone: %q", got)
	}
	e.dir = filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer")
	b, err := os.ReadFile(filepath.Join(e.dir, "style.md"))
	if err != nil {
		t.Fatal(err)
	}
	e.open("style.md", string(b))
	e.shown("style.md", e.version)
	if got := hover("style.md", point{12, 1}); !strings.Contains(got, "Written by** Ann") {
		t.Errorf("in the snapshot: %q", got)
	}
}
