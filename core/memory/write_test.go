package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/store"
	"mem/core/text"
)

func TestReplacingNeedsTheHash(t *testing.T) {
	w := newWorld(t)
	m := w.open()
	first := must(m.Write(t.Context(), note("topic", "one\n\n## A\n\na\n\n## B\n\nb")))(t)
	var exists *ExistsError
	if _, err := m.Write(t.Context(), note("topic", "two")); !errors.As(err, &exists) || exists.Current.Hash != first.Hash || exists.Current.Text != w.get("topic.md") {
		t.Fatalf("err = %v", err)
	}
	// Somebody edits section A by hand; the stale hash still names a known text.
	w.put("topic.md", strings.Replace(w.get("topic.md"), "\na\n", "\nA by hand\n", 1))
	stale := note("topic", "one\n\n## A\n\na\n\n## B\n\nB by us")
	stale.ExpectedHash = first.Hash
	merged := must(m.Write(t.Context(), stale))(t)
	if got := w.get("topic.md"); !merged.Merged || !strings.Contains(got, "A by hand") || !strings.Contains(got, "B by us") {
		t.Errorf("merged = %+v\n%s", merged, got)
	}
	unknown := note("topic", "x")
	unknown.ExpectedHash = strings.Repeat("0", 32)
	if _, err := m.Write(t.Context(), unknown); !errors.As(err, &exists) || exists.Given != unknown.ExpectedHash {
		t.Errorf("err = %v", err)
	}
	same := note("topic", "x")
	same.ExpectedHash = first.Hash
	var conflict *store.ConflictError
	if _, err := m.Write(t.Context(), same); !errors.As(err, &conflict) {
		t.Errorf("err = %v", err)
	}
}

func TestABaseOutlivesTheProcess(t *testing.T) {
	w := newWorld(t)
	w.put("MEMORY.md", "- [t](t.md) — t\n")
	w.put("t.md", "---\nname: t\ndescription: d\ntype: user\n---\n\n## A\n\na\n\n## B\n\nb\n")
	read := must(w.open().Read(t.Context(), "t", ""))(t)
	w.put("t.md", strings.Replace(w.get("t.md"), "\na\n", "\nA\n", 1))
	e := Edit{Topic: "t.md", ExpectedHash: read.Hash, EditOf: memdir.EditOf{Section: "B", Content: "B"}}
	if r := must(w.open().Edit(t.Context(), e))(t); !r.Merged {
		t.Errorf("edited = %+v", r)
	}
	if got := w.get("t.md"); !strings.Contains(got, "\nA\n") || !strings.Contains(got, "\nB\n") {
		t.Errorf("topic = %q", got)
	}
}

func TestEditKeepsEveryOtherByte(t *testing.T) {
	w := newWorld(t)
	const before = "\ufeff---\r\n# a comment\r\nname: t\r\ndescription: old # kept\r\nextra: [1, 2]\r\nmetadata: \r\n  type: user\r\n  originSessionId: s\r\n  modified: 2026-01-01T00:00:00.000Z\r\n---\r\nbody\r\n\r\nno newline at the end"
	w.put("t.md", before)
	m := w.open()
	must(m.Edit(t.Context(), Edit{Topic: "t.md", EditOf: memdir.EditOf{Key: "description", Value: "new: value"}}))(t)
	want := strings.NewReplacer("description: old # kept", `description: "new: value" # kept`, "2026-01-01T00:00:00.000Z", "2026-11-30T09:30:00.000Z").Replace(before)
	if got := w.get("t.md"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	must(m.Edit(t.Context(), Edit{Topic: "t.md", EditOf: memdir.EditOf{Old: "body\n\nno newline", New: "BODY\n\nno newline"}}))(t)
	if got := w.get("t.md"); got != strings.Replace(want, "body\r\n", "BODY\r\n", 1) {
		t.Errorf("got %q", got)
	}
}

func TestEditRefusesWhatWouldBreakTheFile(t *testing.T) {
	w := newWorld(t)
	w.put("t.md", "---\nname: t\ntype: user\n---\n\na a\n\n## S\n\nx\n")
	m := w.open()
	for _, tt := range []struct {
		e    memdir.EditOf
		want string
	}{
		{memdir.EditOf{Old: "a", New: "b"}, "times"},
		{memdir.EditOf{Old: "zzz", New: "b"}, "does not occur"},
		{memdir.EditOf{Old: "type: user\n---", New: "type: user"}, "break"},
		{memdir.EditOf{Key: "type", Value: "diary"}, "reference"},
		{memdir.EditOf{Key: "a: b", Value: "x"}, "no frontmatter key"},
		{memdir.EditOf{Section: "None", Content: "x"}, `"S"`},
	} {
		before := w.get("t.md")
		if _, err := m.Edit(t.Context(), Edit{Topic: "t", EditOf: tt.e}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.e, err)
		}
		if w.get("t.md") != before {
			t.Errorf("%+v changed the file", tt.e)
		}
	}
}

func TestNewTopicsTakeTheFormOfTheirFolder(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.put(fmt.Sprintf("n%d.md", i), "---\nname: n\ndescription: d\nmetadata: \n  type: user\n---\nb\n")
	}
	w.put("f.md", "---\nname: f\ndescription: d\ntype: user\n---\nb\n")
	m := w.open()
	must(m.Write(t.Context(), note("New One", "b")))(t)
	want := "---\nname: New One\ndescription: about New One\nmetadata:\n  node_type: memory\n  type: project\n  originSessionId: " + m.origin + "\n  modified: 2026-11-30T09:30:00.000Z\n---\n\nb\n"
	if got := w.get("new-one.md"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestTheClientsSessionIsTheOrigin(t *testing.T) {
	w := newWorld(t)
	w.vars["CLAUDE_CODE_SESSION_ID"] = "11111111-2222-4333-8444-555555555555"
	must(w.open().Write(t.Context(), note("x", "b")))(t)
	if !strings.Contains(w.get("x.md"), "originSessionId: 11111111-2222-4333-8444-555555555555\n") {
		t.Error(w.get("x.md"))
	}
}

func TestLongDescriptionsMakeShortEntries(t *testing.T) {
	w := newWorld(t)
	n := note("x", "b")
	n.Description = strings.Repeat("word ", 100)
	r := must(w.open().Write(t.Context(), n))(t)
	if c := len([]rune(r.Entry)); c > 150 || !strings.HasSuffix(r.Entry, "…") {
		t.Errorf("%d characters: %s", c, r.Entry)
	}
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	m := w.open()
	must(m.Write(t.Context(), note("One Thing", "b")))(t)
	w.put("MEMORY.md", w.get("MEMORY.md")+"- [gone](gone.md) — nothing there\n")
	must(m.Delete(t.Context(), "one_thing", ""))(t)
	if got := w.get("MEMORY.md"); got != "- [gone](gone.md) — nothing there\n" {
		t.Errorf("index = %q", got)
	}
	r := must(m.Delete(t.Context(), "gone", ""))(t)
	if got := w.get("MEMORY.md"); got != "" || !strings.Contains(fmt.Sprint(r.Notes), "does not exist") {
		t.Errorf("index = %q, notes %v", got, r.Notes)
	}
	for _, ref := range []string{"MEMORY.md", "../x.md", "nothing", "logs/2026/11/2026-11-30.md"} {
		if _, err := m.Delete(t.Context(), ref, ""); err == nil {
			t.Errorf("%s was deleted", ref)
		}
	}
}

func TestMoveTakesLinksAlong(t *testing.T) {
	w := newWorld(t)
	w.put("MEMORY.md", "- [a](a.md#top) — x\n\n| t |\n|---|\n| [a](a.md) |\n")
	w.put("a.md", "---\nname: a\ntype: user\n---\n\nsee [b](sub/b.md), [me](a.md) and [web](https://example.org/a.md)\n")
	w.put("sub/b.md", "---\nname: b\ntype: user\n---\n\nback to [a](../a.md \"title\") and `[a](../a.md)`\n")
	m := w.open()
	r := must(m.Move(t.Context(), "a", "deep/er/new name.md"))(t)
	if got := w.get("MEMORY.md"); got != "- [a](<deep/er/new name.md#top>) — x\n\n| t |\n|---|\n| [a](<deep/er/new name.md>) |\n" {
		t.Errorf("index = %q", got)
	}
	if got := w.get("deep/er/new name.md"); !strings.Contains(got, "[b](../../sub/b.md), [me](<new name.md>) and [web](https://example.org/a.md)") {
		t.Errorf("topic = %q", got)
	}
	if got := w.get("sub/b.md"); !strings.Contains(got, "[a](<../deep/er/new name.md> \"title\") and `[a](../a.md)`") {
		t.Errorf("other = %q", got)
	}
	must(m.Undo(t.Context(), r.ID))(t)
	if got := w.get("MEMORY.md"); !strings.Contains(got, "(a.md#top)") {
		t.Errorf("index after undo = %q", got)
	}
	w.get("a.md")
}

func TestDailyLogMode(t *testing.T) {
	w := newWorld(t)
	w.config("memory:\n  daily_log: true\n")
	w.put("old.md", "---\nname: old\ndescription: d\ntype: user\n---\n\nb\n")
	m := w.open()
	r := must(m.Write(t.Context(), note("fresh", "body")))(t)
	if !r.Logged || r.Path != "logs/2026/11/2026-11-30.md" || r.ID == "" {
		t.Errorf("written = %+v", r)
	}
	want := "## 09:30:00 fresh\n\n- type: project\n- description: about fresh\n- originSessionId: " + m.origin + "\n\nbody\n\n"
	if got := w.get(r.Path); got != want {
		t.Errorf("log = %q, want %q", got, want)
	}
	// Writes that name a text still change topics.
	old := must(m.Read(t.Context(), "old.md", ""))(t)
	n := note("old", "new body")
	n.ExpectedHash = old.Hash
	if r := must(m.Write(t.Context(), n))(t); r.Logged || !strings.Contains(w.get("old.md"), "new body") {
		t.Errorf("written = %+v", r)
	}
	must(m.Undo(t.Context(), r.ID))(t)
	if got := w.get(r.Path); !strings.HasPrefix(got, want) || !strings.Contains(got, "## 09:30:00 withdrawn") {
		t.Errorf("log = %q", got)
	}
}

func TestEntryFollowsItsTopic(t *testing.T) {
	w := newWorld(t)
	w.put("MEMORY.md", "- [t](t.md) — old words\n- [Mine](u.md) — my own words\n")
	w.put("t.md", "---\nname: t\ndescription: old words\ntype: user\n---\n\nb\n")
	w.put("u.md", "---\nname: u\ndescription: old words\ntype: user\n---\n\nb\n")
	m := w.open()
	for _, topic := range []string{"t.md", "u.md"} {
		must(m.Edit(t.Context(), Edit{Topic: topic, EditOf: memdir.EditOf{Key: "description", Value: "new words"}}))(t)
	}
	if got := w.get("MEMORY.md"); got != "- [t](t.md) — new words\n- [Mine](u.md) — my own words\n" {
		t.Errorf("index = %q", got)
	}
}

func TestDeleteLeavesWhatItCannotRead(t *testing.T) {
	w := newWorld(t)
	w.put("MEMORY.md", "- [x](x.md) — a folder\n- [l](l.md) — a link\n")
	w.put("x.md/inner.txt", "x")
	w.put("target.txt", "t")
	if err := os.Symlink(filepath.Join(w.dir, "target.txt"), filepath.Join(w.dir, "l.md")); err != nil {
		t.Fatal(err)
	}
	m := w.open()
	for _, p := range []string{"x.md", "l.md"} {
		if _, err := m.Delete(t.Context(), p, ""); err == nil || strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", p, err)
		}
	}
	if got := w.get("MEMORY.md"); !strings.Contains(got, "x.md") || !strings.Contains(got, "l.md") {
		t.Errorf("index = %q", got)
	}
}

func TestNULIsRefusedAndReported(t *testing.T) {
	w := newWorld(t)
	w.put("z.md", "---\nname: z\ntype: user\n---\n\na\x00b\n")
	m := w.open()
	if r := must(m.Read(t.Context(), "z", ""))(t); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "NUL") {
		t.Errorf("problems = %v", r.Problems)
	}
	if _, err := m.Write(t.Context(), note("n", "a\x00b")); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("err = %v", err)
	}
}

// TestMendingIsNoTouching: what counts from a topic's time counts on.
func TestMendingIsNoTouching(t *testing.T) {
	w := newWorld(t)
	const before = "---\nname: a\ndescription: d\ntype: project\n---\n\nText\n"
	w.put("a.md", before)
	old := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(w.dir, "a.md"), old, old); err != nil {
		t.Fatal(err)
	}
	c := change.Change{Op: "fix", Files: []change.File{{Path: "a.md", Kind: change.Edit, Base: before, Edits: text.Diff(before, before+"more\n")}}}
	if _, err := w.open().Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(w.dir, "a.md"))
	if err != nil || info.ModTime().Sub(old) > time.Second || w.get("a.md") != before+"more\n" {
		t.Errorf("%v %v", info.ModTime(), err)
	}
}

// TestWhatAnEditReplacedIsABase: whoever has the hash of a text that somebody else wrote
// can write over what an edit of ours made of it, and nothing was kept twice.
func TestWhatAnEditReplacedIsABase(t *testing.T) {
	w := newWorld(t)
	const before = "---\nname: a\ndescription: d\ntype: user\n---\n\n# One\n\nFirst.\n\n# Two\n\nSecond.\n"
	w.put("a.md", before)
	m := w.open()
	if _, err := m.Edit(t.Context(), Edit{Topic: "a.md", EditOf: memdir.EditOf{Section: "One", Content: "Edited."}}); err != nil {
		t.Fatal(err)
	}
	kept := func() int { return len(must(filepath.Glob(filepath.Join(w.opt.Env.StateDir, "*", "bases", "*")))(t)) }
	if n := kept(); n > 0 {
		t.Errorf("%d texts are kept beside the journal", n)
	}
	w.put("b.md", before)
	if must(m.Read(t.Context(), "b.md", ""))(t); kept() != 1 {
		t.Error("a text that was handed out is not kept")
	}
	out, err := m.Write(t.Context(), Write{ExpectedHash: text.Hash(before), Memory: memdir.Memory{
		Name: "a", Description: "d", Type: "user", Path: "a.md", Body: "# One\n\nFirst.\n\n# Two\n\nWritten.\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.get("a.md"); !out.Merged || !strings.Contains(got, "Edited.") || !strings.Contains(got, "Written.") {
		t.Errorf("merged %v:\n%s", out.Merged, got)
	}
}
