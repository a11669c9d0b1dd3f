package lspserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unshared is a memory that no team has yet: one topic is fit for it, one names somebody,
// one is about the user.
const unshared = `
-- MEMORY.md --
# Memory

- [Style](style.md) — how we write
- [Call](call.md) — who is called
- [Me](me.md) — who I am
-- style.md --
---
name: style
description: How we write
type: reference
---

Short sentences.
-- call.md --
---
name: call
description: Who is called
type: reference
---

Ask jane.doe@corp.io.
-- me.md --
---
name: me
description: Who I am
type: user
---

Likes tea.
-- team/MEMORY.md --
# Gone
`

// TestFirstPublish: a memory that an agent has of a project and no team has yet offers to
// publish it, says what would be held back, and shows it before it goes.
func TestFirstPublish(t *testing.T) {
	w, e := shared(t, unshared)
	snapshot := filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer")
	if err := os.RemoveAll(filepath.Dir(snapshot)); err != nil {
		t.Fatal(err)
	}
	e.bringAll(w, "MEMORY.md")
	if found := e.shown("MEMORY.md", 1); has("snapshot-unpublished")(found) || has("snapshot-secret")(found) {
		t.Errorf("what nobody shares is not unpublished: %s", codes(found))
	}
	all := e.lenses()
	if len(all) != 2 || all["publish"].Command.Title != "Publish 1 topic to the team… (2 held back)" || !strings.Contains(all["status"].Command.Title, "no snapshot; 3 topics here") {
		t.Errorf("%+v", all)
	}
	e.commanded("status")
	if m := e.requested("window/showMessage", 0); !strings.Contains(string(m.Params), "call.md:7: it holds an e-mail address") || !strings.Contains(string(m.Params), "1 topic about a person stays here") {
		t.Errorf("the state is told as %s", m.Params)
	}
	for _, other := range []string{"review", "takeAll", "keepMine", "skip"} {
		if m := e.command(other, "style.md"); m.Error == nil {
			t.Errorf("%s of what the team does not have: %s", other, m.Result)
		}
	}
	answers := make(chan string, 1)
	answers <- `{"title":"Publish"}`
	e.reply("window/showMessageRequest", func(json.RawMessage) string { return <-answers })
	e.commanded("publish")
	if m := e.requested("window/showMessageRequest", 0); !strings.Contains(string(m.Params), "style.md added") || !strings.Contains(string(m.Params), "held back: call.md:7") {
		t.Errorf("it shows %s", m.Params)
	}
	e.wait("the snapshot", func() bool {
		_, err := os.Stat(filepath.Join(snapshot, "snapshot.json"))
		if err != nil {
			go e.nudge()
		}
		return err == nil
	})
	e.requested("workspace/codeLens/refresh", 0)
	if names, err := os.ReadDir(snapshot); err != nil || len(names) != 3 {
		t.Errorf("published: %v %v", names, err)
	}
	if all := e.lenses(); !strings.Contains(all["status"].Command.Title, "local-ahead") && !strings.Contains(all["status"].Command.Title, "in sync") {
		t.Errorf("afterwards: %+v", all)
	}
	// An index that may not go is told where it stands.
	if err := os.RemoveAll(filepath.Dir(snapshot)); err != nil {
		t.Fatal(err)
	}
	e.change("MEMORY.md", w.texts["MEMORY.md"]+"\nAsk jane.doe@corp.io.\n")
	if title := e.lenses()["publish"].Command.Title; !strings.Contains(title, "line 7 of MEMORY.md") {
		t.Errorf("an index that may not go: %s", title)
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}

// TestNothingToShare: memory that never goes to a team, and one without a topic, offer nothing.
func TestNothingToShare(t *testing.T) {
	w, e := shared(t, unshared)
	for _, dir := range []string{".claude/agent-memory-local/reviewer", ".claude/agent-memory/empty"} {
		e.dir = filepath.Join(w.top, filepath.FromSlash(dir))
		index := "# Memory\n"
		if strings.Contains(dir, "local") {
			index += "\n- [Style](style.md) — how we write\n"
			w.put(filepath.Join(e.dir, "style.md"), w.texts["style.md"])
		}
		w.put(filepath.Join(e.dir, "MEMORY.md"), index)
		e.open("MEMORY.md", index)
		e.shown("MEMORY.md", e.version)
		if all := e.lenses(); len(all) != 0 {
			t.Errorf("%s: %+v", dir, all)
		}
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}

// TestNewsUnwatched: an editor that watches no files sees what git brought while nobody
// typed, and sees when it is gone.
func TestNewsUnwatched(t *testing.T) {
	if strings.Contains(capable, "didChangeWatchedFiles") {
		t.Fatal("the client of these tests offers to watch files by now: take that from what it says here")
	}
	w, e := shared(t, sharing)
	e.bringAll(w, "style.md", "MEMORY.md")
	e.until("style.md", "a conflict", has("snapshot-conflict"))
	snapshot := filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer")
	time.Sleep(teamEvery + teamEvery/5) // it has looked once
	if err := os.RemoveAll(snapshot); err != nil {
		t.Fatal(err)
	}
	e.until("style.md", "no conflict", lacks("snapshot-conflict"))
	e.requested("workspace/codeLens/refresh", 0)
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}
