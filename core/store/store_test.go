package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// open makes a store in a fresh directory.
func open(t *testing.T, edit ...func(*Options)) *Store {
	t.Helper()
	base := t.TempDir()
	return reopen(t, filepath.Join(base, "memory"), filepath.Join(base, "state"), edit...)
}

// reopen makes a second store on a directory, as another process would.
func reopen(t *testing.T, dir, state string, edit ...func(*Options)) *Store {
	t.Helper()
	opt := Options{Directory: dir, StateDir: state, Actor: "test", Origin: "session-1"}
	for _, e := range edit {
		e(&opt)
	}
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func view(t *testing.T, s *Store) *Reading {
	t.Helper()
	v, err := s.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var stamp = memdir.Stamp{Origin: "session-1", Now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}

func memory(name, body string) memdir.Memory {
	return memdir.Memory{Name: name, Description: "about " + name, Type: "project", Body: body}
}

// write adds a memory the way the tools do.
func write(t *testing.T, s *Store, m memdir.Memory) *Result {
	t.Helper()
	v := view(t, s)
	p, _, err := v.Place(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.Create(p, m, stamp)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Apply(context.Background(), c, How{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readFile(t *testing.T, s *Store, p string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Directory(), p))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func overwrite(t *testing.T, s *Store, p, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Directory(), p), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit gives the change that replaces old by new in a file.
func edit(t *testing.T, s *Store, p, base, old, new string) change.Change {
	t.Helper()
	c, err := memdir.Edit(p, base, memdir.EditOf{Old: old, New: new}, memfile.FormFlat, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func onlyOurs(t *testing.T, s *Store) {
	t.Helper()
	err := filepath.WalkDir(s.Directory(), func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), tempPrefix) {
			t.Errorf("temporary file left behind: %s", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteCreatesTopicAndEntry(t *testing.T) {
	s := open(t)
	r := write(t, s, memory("api-style", "Use tabs."))
	if r.ID == "" || len(r.Files) != 2 || r.Files[0].Action != "created" {
		t.Fatalf("result = %+v", r)
	}
	if got := readFile(t, s, "MEMORY.md"); got != "- [api-style](api-style.md) — about api-style\n" {
		t.Errorf("index = %q", got)
	}
	topic := readFile(t, s, "api-style.md")
	want := "---\nname: api-style\ndescription: about api-style\ntype: project\noriginSessionId: session-1\nmodified: 2026-11-30T09:00:00.000Z\n---\n\nUse tabs.\n"
	if topic != want {
		t.Errorf("topic = %q, want %q", topic, want)
	}
	if r.Files[0].Hash != text.Hash(topic) {
		t.Errorf("hash = %s", r.Files[0].Hash)
	}
	onlyOurs(t, s)
}

func TestNewestEntryGoesFirst(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	write(t, s, memory("two", "2"))
	if got := readFile(t, s, "MEMORY.md"); got != "- [two](two.md) — about two\n- [one](one.md) — about one\n" {
		t.Errorf("index = %q", got)
	}
}

func TestTwoWritersMergeDifferentParts(t *testing.T) {
	s := open(t)
	write(t, s, memory("topic", "## A\n\na\n\n## B\n\nb"))
	base := readFile(t, s, "topic.md")
	other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()))
	if _, err := other.Apply(t.Context(), edit(t, other, "topic.md", base, "a\n\n## B", "A!\n\n## B"), How{}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Apply(t.Context(), edit(t, s, "topic.md", base, "\nb\n", "\nB!\n"), How{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Files[0].Merged {
		t.Errorf("result does not say that it merged: %+v", r.Files)
	}
	if got := readFile(t, s, "topic.md"); !strings.Contains(got, "A!") || !strings.Contains(got, "B!") {
		t.Errorf("topic = %q", got)
	}
}

func TestSamePartIsAConflictWithBothTexts(t *testing.T) {
	s := open(t)
	write(t, s, memory("topic", "text"))
	base := readFile(t, s, "topic.md")
	if _, err := s.Apply(t.Context(), edit(t, s, "topic.md", base, "text", "first"), How{}); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, s, "topic.md")
	_, err := s.Apply(t.Context(), edit(t, s, "topic.md", base, "text", "second"), How{})
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("err = %v", err)
	}
	c := conflict.Conflicts[0]
	if !strings.Contains(c.Ours, "second") || !strings.Contains(c.Theirs, "first") || !strings.Contains(c.Base, "text") {
		t.Errorf("conflict = %+v", c)
	}
	if cur := conflict.Current["topic.md"]; cur.Text != before || cur.Hash != text.Hash(before) {
		t.Errorf("current = %+v", cur)
	}
	if got := readFile(t, s, "topic.md"); got != before {
		t.Errorf("the file changed: %q", got)
	}
}

func TestUndo(t *testing.T) {
	s := open(t)
	write(t, s, memory("keep", "k"))
	r := write(t, s, memory("gone", "g"))
	later := write(t, s, memory("later", "l"))
	if _, err := s.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, s, "MEMORY.md"); got != "- [later](later.md) — about later\n- [keep](keep.md) — about keep\n" {
		t.Errorf("index = %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.Directory(), "gone.md")); !os.IsNotExist(err) {
		t.Errorf("the topic is still there: %v", err)
	}
	if _, err := s.Undo(t.Context(), r.ID, How{}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("second undo: %v", err)
	}
	events, _, err := s.History("", "", 10)
	if err != nil || len(events) != 4 || events[0].Undoes != r.ID || events[2].UndoneBy != events[0].ID {
		t.Fatalf("history = %+v, %v", events, err)
	}
	if _, err := s.Undo(t.Context(), events[0].ID, How{}); err != nil {
		t.Fatalf("redo: %v", err)
	}
	if got := readFile(t, s, "gone.md"); !strings.HasSuffix(got, "g\n") {
		t.Errorf("after redo: %q", got)
	}
	if _, err := s.Undo(t.Context(), later.ID, How{}); err != nil {
		t.Fatal(err)
	}
}

func TestUndoOfADeletion(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	v := view(t, s)
	r, err := s.Apply(t.Context(), v.Delete("one.md", readFile(t, s, "one.md")), How{})
	if err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, s, "MEMORY.md"); got != "" {
		t.Errorf("index = %q", got)
	}
	if _, err := s.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, s, "one.md"); !strings.Contains(got, "about one") {
		t.Errorf("topic = %q", got)
	}
}

func TestUndoMeetsALaterEdit(t *testing.T) {
	s := open(t)
	write(t, s, memory("topic", "one"))
	r, err := s.Apply(t.Context(), edit(t, s, "topic.md", readFile(t, s, "topic.md"), "one", "two"), How{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), edit(t, s, "topic.md", readFile(t, s, "topic.md"), "two", "three"), How{}); err != nil {
		t.Fatal(err)
	}
	var conflict *ConflictError
	if _, err := s.Undo(t.Context(), r.ID, How{}); !errors.As(err, &conflict) {
		t.Fatalf("err = %v", err)
	}
	if got := readFile(t, s, "topic.md"); !strings.Contains(got, "three") {
		t.Errorf("topic = %q", got)
	}
}

func TestVanishedEntryIsReportedAndRestored(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	stale := readFile(t, s, "MEMORY.md")
	write(t, s, memory("two", "2"))
	// A program without locks writes back what it read before.
	overwrite(t, s, "MEMORY.md", stale+"- [three](three.md) — theirs\n")
	v := view(t, s)
	if len(v.Losses) != 1 || v.Losses[0].Path != "two.md" {
		t.Fatalf("losses = %+v", v.Losses)
	}
	if again := view(t, s); len(again.Losses) != 0 {
		t.Errorf("reported twice: %+v", again.Losses)
	}
	if _, err := s.Undo(t.Context(), v.Losses[0].ID, How{}); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, s, "MEMORY.md")
	for _, want := range []string{"one.md", "two.md", "three.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("index lacks %s: %q", want, got)
		}
	}
}

func TestVanishedIsSeenByTheNextWriteToo(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	overwrite(t, s, "MEMORY.md", "# Mine\n")
	if err := os.Remove(filepath.Join(s.Directory(), "one.md")); err != nil {
		t.Fatal(err)
	}
	other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()))
	v := view(t, other)
	if len(v.Losses) != 1 || !v.Losses[0].Topic {
		t.Fatalf("losses = %+v", v.Losses)
	}
	if _, err := other.Undo(t.Context(), v.Losses[0].ID, How{}); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, s, "MEMORY.md"); got != "# Mine\n\n- [one](one.md) — about one\n" {
		t.Errorf("index = %q", got)
	}
	readFile(t, s, "one.md")
}

func TestAppendsAndTheirWithdrawal(t *testing.T) {
	s := open(t)
	c := memdir.Log(memdir.LogNote{Name: "seen", Type: "project", Body: "something"}, stamp)
	r, err := s.Apply(t.Context(), c, How{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, s, "logs/2026/11/2026-11-30.md")
	if !strings.Contains(got, "## 09:00:00 seen\n") {
		t.Errorf("log = %q", got)
	}
}

func TestRefusedPaths(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	for _, p := range []string{"../x.md", "/x.md", "CLAUDE.md", "sub/README.md", ".hidden.md", "a.txt", `a\b.md`, "sub/../../x.md", "%2e%2e/x.md", "logs/x.md"} {
		_, err := s.Apply(t.Context(), change.Change{Files: []change.File{{Path: p, Kind: change.Create, New: "x"}}}, How{})
		if err == nil {
			t.Errorf("%s was written", p)
		}
	}
}

func TestSymlinksAreNotFollowed(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(outside, []byte("outside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.Directory(), "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(s.Directory(), "dir")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []change.File{
		{Path: "link.md", Kind: change.Edit, Base: "outside\n", Edits: []text.Edit{{New: "x"}}},
		{Path: "link.md", Kind: change.Create, New: "x"},
		{Path: "dir/new.md", Kind: change.Create, New: "x"},
		{Path: "dir/outside.md", Kind: change.Delete, Base: "outside\n"},
	} {
		if _, err := s.Apply(t.Context(), change.Change{Files: []change.File{f}}, How{}); err == nil {
			t.Errorf("%s %s succeeded", f.Kind, f.Path)
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "outside\n" {
		t.Errorf("outside = %q, %v", got, err)
	}
}

func TestPurge(t *testing.T) {
	s := open(t)
	r := write(t, s, memory("one", "1"))
	if _, err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if events, _, err := s.History("", "", 10); err != nil || len(events) != 0 {
		t.Errorf("history = %v, %v", events, err)
	}
	if _, err := s.Undo(t.Context(), r.ID, How{}); err == nil {
		t.Error("undo after a purge succeeded")
	}
	write(t, s, memory("two", "2"))
}
