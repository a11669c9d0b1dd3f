package lspserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.lsp.dev/uri"

	"mem/core/text"
	"mem/diagnostics/diagtest"
)

// sharing is a memory whose section "Rules" both sides changed differently, while the
// team added a section and a topic, and somebody here a topic.
const sharing = `
-- MEMORY.md --
# Memory

- [Style](style.md) — how we write
- [Own](own.md) — what is here alone
-- style.md --
---
name: style
description: How we write
type: reference
---

## Rules

Short sentences, always.
-- own.md --
---
name: own
description: What is here alone
type: reference
---

Here alone.
-- base/MEMORY.md --
# Memory

- [Style](style.md) — how we write
-- base/style.md --
---
name: style
description: How we write
type: reference
---

## Rules

Short sentences.
-- team/MEMORY.md --
# Memory

- [Style](style.md) — how we write
- [Tests](tests.md) — how we test
-- team/style.md --
---
name: style
description: How we write
type: reference
---

## Rules

Short sentences, no jargon.

## More

News.
-- team/tests.md --
---
name: tests
description: How we test
type: reference
---

No mocks.
`

// shared starts an editor on a shared memory.
func shared(t testing.TB, src string) (*world, *editor) {
	t.Helper()
	w := newWorld(t, diagtest.Parse(t, []byte(src)))
	e := w.edit(text.UTF16)
	e.mu.Lock()
	e.replies = map[string]func(json.RawMessage) string{}
	e.mu.Unlock()
	return w, e
}

func (e *editor) reply(method string, with func(params json.RawMessage) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replies[method] = with
}

// requested waits for what the server said or asked with a method, after the first n.
func (e *editor) requested(method string, n int) message {
	e.t.Helper()
	var m message
	e.wait(fmt.Sprintf("%s, number %d,", method, n+1), func() bool {
		seen := 0
		for _, x := range e.messages {
			if x.Method == method {
				if seen++; seen > n {
					m = x
					return true
				}
			}
		}
		return false
	})
	return m
}

type lens struct {
	Range   span `json:"range"`
	Command struct {
		Title     string   `json:"title"`
		Command   string   `json:"command"`
		Arguments []string `json:"arguments"`
	} `json:"command"`
}

// lenses gives the lenses of the index by their commands.
func (e *editor) lenses() map[string]lens {
	e.t.Helper()
	var raw []json.RawMessage
	e.ask("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}}, &raw)
	out := map[string]lens{}
	for i, r := range raw {
		var l lens
		e.ask("codeLens/resolve", string(r), &l)
		out[strings.TrimPrefix(l.Command.Command, "mem.snapshot.")] = l
		if last := i == len(raw)-1; last != (l.Command.Command == commandStatus) {
			e.t.Errorf("lens %d is %s: the state stands last, where it may be cut off", i, l.Command.Command)
		}
	}
	return out
}

func (e *editor) command(name string, args ...string) message {
	e.t.Helper()
	return e.answer(e.post("workspace/executeCommand", map[string]any{"command": "mem.snapshot." + name, "arguments": append([]string{string(uri.File(e.dir))}, args...)}))
}

func (e *editor) commanded(name string, args ...string) json.RawMessage {
	e.t.Helper()
	m := e.command(name, args...)
	if m.Error != nil {
		e.t.Fatalf("%s: %s", name, m.Error.Message)
	}
	return m.Result
}

func (e *editor) bringAll(w *world, names ...string) {
	for _, n := range names {
		e.open(n, w.texts[n])
	}
}

func TestLenses(t *testing.T) {
	w, e := shared(t, sharing)
	e.bringAll(w, "MEMORY.md")
	e.until("MEMORY.md", "news", has("snapshot-newer"))
	all := e.lenses()
	for command, words := range map[string]string{"status": "diverged", "review": "Review 4 files", "takeAll": "Take all that conflicts with nothing", "publish": "Publish 3 changes…"} {
		if l := all[command]; !strings.Contains(l.Command.Title, words) || len(l.Command.Arguments) != 1 || l.Range != (span{}) {
			t.Errorf("%s: %+v", command, l)
		}
	}
	e.commanded("status")
	if m := e.requested("window/showMessage", 0); !strings.Contains(string(m.Params), "CONFLICT in the section") {
		t.Errorf("the state is told as %s", m.Params)
	}
	// On the snapshot's side they are the same.
	e.dir = filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer")
	b, err := os.ReadFile(filepath.Join(e.dir, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	e.open("MEMORY.md", string(b))
	e.shown("MEMORY.md", e.version)
	if theirs := e.lenses(); len(theirs) != 4 || theirs["status"].Command.Title != all["status"].Command.Title {
		t.Errorf("in the snapshot: %+v", theirs)
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}

// Lenses follow the state, and the client is told to ask for them again.
func TestLensesOfStates(t *testing.T) {
	w, e := shared(t, strings.ReplaceAll(sharing, "own.md", "style.md"))
	for p, s := range w.texts {
		w.put(filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer", p), s)
	}
	if err := os.Remove(filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer", "tests.md")); err != nil {
		t.Fatal(err)
	}
	e.bringAll(w, "MEMORY.md")
	e.shown("MEMORY.md", 1)
	if all := e.lenses(); len(all) != 1 || !strings.Contains(all["status"].Command.Title, "in sync") {
		t.Errorf("in sync: %+v", all)
	}
	manifest := filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer", "snapshot.json")
	w.put(manifest, "{")
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": string(uri.File(manifest)), "type": 2}}})
	e.until("MEMORY.md", "an invalid snapshot", has("snapshot-invalid"))
	e.requested("workspace/codeLens/refresh", 0)
	if all := e.lenses(); len(all) != 1 || !strings.Contains(all["status"].Command.Title, "not used") {
		t.Errorf("invalid: %+v", all)
	}
	if err := os.RemoveAll(filepath.Dir(manifest)); err != nil {
		t.Fatal(err)
	}
	if all := e.lenses(); len(all) != 2 || !strings.Contains(all["publish"].Command.Title, "to the team…") {
		t.Errorf("without a snapshot: %+v", all)
	}
}

// All news are taken by an edit, which leaves conflicts alone.
func TestTakeAll(t *testing.T) {
	w, e := shared(t, sharing)
	e.bringAll(w, "MEMORY.md", "style.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	edits := make(chan json.RawMessage, 1)
	e.reply("workspace/applyEdit", func(p json.RawMessage) string { edits <- p; return `{"applied":true}` })
	e.commanded("takeAll")
	var a action
	if err := json.Unmarshal(<-edits, &a); err != nil {
		t.Fatal(err)
	}
	made := e.made(a)
	if len(made) != 3 || !strings.Contains(made["style.md"], "always.\n\n## More\n\nNews.\n") || !strings.Contains(made["MEMORY.md"], "(tests.md)") ||
		!strings.Contains(made["MEMORY.md"], "(own.md)") || !strings.HasSuffix(made["tests.md"], "No mocks.\n") {
		t.Errorf("it makes %s", printed(made))
	}
	e.reply("workspace/applyEdit", func(json.RawMessage) string { return `{"applied":false,"failureReason":"it is read-only"}` })
	if m := e.command("takeAll"); m.Error == nil || !strings.Contains(m.Error.Message, "it is read-only") {
		t.Errorf("an edit that is not made: %+v", m)
	}
	if got := w.files(); got["tests.md"] != "" {
		t.Error("the server wrote a file itself")
	}
}

// Keeping and skipping is remembered and changes no file.
func TestKeepAndSkip(t *testing.T) {
	w, e := shared(t, sharing)
	before := w.files()
	e.bringAll(w, "MEMORY.md", "style.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	all := e.lightbulb("style.md", span{point{6, 0}, point{6, 0}}, "")
	a := titled(t, all, `Keep mine of the section "Rules"`)
	for _, x := range all {
		if x.IsPreferred {
			t.Errorf("%q is preferred where somebody has to choose", x.Title)
		}
	}
	var c lens
	if err := json.Unmarshal(a.raw, &c); err != nil || c.Command.Command != "mem.snapshot.keepMine" {
		t.Fatalf("%v in %s", err, a.raw)
	}
	e.ask("workspace/executeCommand", map[string]any{"command": c.Command.Command, "arguments": c.Command.Arguments}, nil)
	e.until("style.md", "no conflict", lacks("snapshot-conflict"))
	e.until("MEMORY.md", "news", has("snapshot-newer"))
	e.commanded("skipNews", "tests.md")
	e.until("MEMORY.md", "no news", lacks("snapshot-newer"))
	e.change("style.md", strings.Replace(w.texts["style.md"], "always", "at all times", 1))
	e.shown("style.md", e.version)
	e.mu.Lock()
	if codes(e.latest("style.md")) != "snapshot-newer snapshot-unpublished" {
		t.Errorf("asked again: %s", codes(e.latest("style.md")))
	}
	e.mu.Unlock()
	if after := w.files(); printed(before) != printed(after) {
		t.Errorf("a decision changes files: %s", printed(after))
	}
	if m := e.command("keepMine", "nowhere.md"); m.Error == nil {
		t.Error("a decision about nothing is taken")
	}
}

// What was taken and saved is not asked again when it changes.
func TestSavedIsSettled(t *testing.T) {
	w, e := shared(t, sharing)
	e.bringAll(w, "style.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	all := e.lightbulb("style.md", span{point{6, 0}, point{6, 0}}, "")
	got := e.made(e.take(titled(t, all, `Take theirs of the section "Rules"`)))["style.md"]
	e.change("style.md", got)
	e.write("style.md", got)
	state := func() string { return noted(t, w) }
	before := state()
	e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri("style.md")}})
	for i := 0; state() == before; i++ {
		if i == 1000 {
			t.Fatal("saving notes nothing")
		}
		e.ask("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": e.uri("style.md")}, "position": point{0, 0}}, nil)
	}
	e.change("style.md", strings.Replace(got, "no jargon", "no jargon at all", 1))
	found := e.shown("style.md", e.version)
	if codes(found) != "snapshot-newer snapshot-unpublished" && codes(found) != "snapshot-unpublished snapshot-newer" {
		t.Errorf("asked again: %s", codes(found))
	}
}
