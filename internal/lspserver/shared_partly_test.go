package lspserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// renaming is a memory of which the team renamed a topic, changed another one and its
// entry, and added a third.
const renaming = `
-- MEMORY.md --
# Memory

- [One](one.md) — about one
- [Two](two.md) — about two
-- one.md --
---
name: one
description: About one
type: reference
---

One says this.

And that as well.
-- two.md --
---
name: two
description: About two
type: reference
---

## Rules

Two.
-- base/MEMORY.md --
# Memory

- [One](one.md) — about one
- [Two](two.md) — about two
-- base/one.md --
---
name: one
description: About one
type: reference
---

One says this.

And that as well.
-- base/two.md --
---
name: two
description: About two
type: reference
---

## Rules

Two.
-- team/MEMORY.md --
# Memory

- [One](third.md) — about one
- [Two](two.md) — about two, and more
- [New](new.md) — about what is new
-- team/third.md --
---
name: one
description: About one
type: reference
---

One says this.

And that as well.

And more.
-- team/two.md --
---
name: two
description: About two
type: reference
---

## Rules

Two.

## More

News.
-- team/new.md --
---
name: new
description: About what is new
type: reference
---

New.
`

// renamedAlone is that memory where the team only renamed the topic, and wrote on in it.
func renamedAlone() string {
	src, _, _ := strings.Cut(renaming, "-- team/new.md --")
	return strings.NewReplacer(", and more\n", "\n", "- [New](new.md) — about what is new\n", "", "\n## More\n\nNews.\n", "").Replace(src)
}

// TestEditsThatAreMadePartly: an editor that refuses an edit of ours, makes a part of it, or
// saves a part of the files, in any order and with a save of something else at any moment,
// is offered the rest again: what it was offered is not taken before it lies on disk.
func TestEditsThatAreMadePartly(t *testing.T) {
	files := []string{"one.md", "third.md", "two.md", "new.md", "MEMORY.md"}
	backwards := slices.Clone(files)
	slices.Reverse(backwards)
	for _, c := range []struct {
		answer string
		made   []string // the files of the edit that are on disk afterwards, in order
	}{
		{`{"applied":false,"failureReason":"newer than edits"}`, nil},
		{`{"applied":true}`, nil}, // Neovim says so of edits that it skips
		{`{"applied":true}`, []string{"MEMORY.md"}},
		{`{"applied":true}`, []string{"third.md", "one.md"}},
		{`{"applied":false}`, []string{"one.md", "third.md"}},
		{`{"applied":true}`, []string{"third.md", "one.md", "two.md", "new.md"}},
		{`{"applied":false}`, []string{"two.md", "MEMORY.md"}},
		{`{"applied":false}`, []string{"new.md", "two.md"}},
		{`{"applied":true}`, files},
		{`{"applied":true}`, backwards},
	} {
		for name, src := range map[string]string{"much": renaming, "a rename": renamedAlone()} {
			t.Run(fmt.Sprint(name, c.answer, c.made), func(t *testing.T) {
				t.Parallel()
				makePartly(t, src, c.answer, c.made)
			})
		}
	}
}

// makePartly takes all news by an edit of which only some files are made, and then the rest.
func makePartly(t *testing.T, src, answer string, some []string) {
	w, e := shared(t, src)
	e.bringAll(w, "MEMORY.md", "one.md", "two.md")
	e.until("one.md", "news", has("snapshot-newer"))
	open := map[string]bool{"MEMORY.md": true, "one.md": true, "two.md": true}
	save := func(name string) {
		e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
	}
	makes := func(made map[string]string, name string) {
		text, there := made[name]
		switch {
		case !there:
			return
		case text == gone:
			if err := os.Remove(filepath.Join(e.dir, name)); err != nil {
				t.Fatal(err)
			}
			if open[name] {
				e.close(name)
				open[name] = false
			}
			return
		}
		if open[name] {
			e.change(name, text)
		}
		e.write(name, text)
		if open[name] {
			save(name)
		}
	}
	takeAll := func(answer string) map[string]string {
		edits := make(chan json.RawMessage, 1)
		e.reply("workspace/applyEdit", func(p json.RawMessage) string { edits <- p; return answer })
		m := e.command("takeAll")
		if refused := strings.Contains(answer, "false"); refused != (m.Error != nil) {
			t.Errorf("%s is answered with %+v", answer, m.Error)
		}
		select {
		case p := <-edits:
			var a action
			if err := json.Unmarshal(p, &a); err != nil {
				t.Fatal(err)
			}
			return e.made(a)
		default:
			return nil // nothing was left
		}
	}
	save("two.md") // the news are there, and nothing of them is taken
	made := takeAll(answer)
	for _, name := range some {
		makes(made, name)
		save("MEMORY.md")
	}
	rest := takeAll(`{"applied":true}`)
	for name := range rest {
		makes(rest, name)
	}
	save("MEMORY.md")
	if left := takeAll(`{"applied":true}`); len(left) > 0 {
		t.Errorf("it is asked again for %s", printed(left))
	}
	now := w.files()
	for name, text := range filesBelow(t, filepath.Join(w.top, ".claude", "agent-memory-snapshots", "reviewer")) {
		if name = filepath.Base(name); name != "snapshot.json" && now[name] != text {
			t.Errorf("%s is\n%s\nand the team's\n%s", name, now[name], text)
		}
	}
	if title := e.lenses()["status"].Command.Title; !strings.Contains(title, "in sync") {
		t.Errorf("the state is %q", title)
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}
