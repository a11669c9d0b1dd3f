package agentmem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestUnreadIsNotDeleted: a topic that is here and cannot be read is not taken for deleted,
// neither by a publish nor by a pull.
func TestUnreadIsNotDeleted(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, m *member)
	}{
		{"too large", func(t *testing.T, m *member) { m.put("x.md", topicText("x", strings.Repeat("much\n", MaxFile/4))) }},
		{"not text", func(t *testing.T, m *member) { m.put("x.md", "\xff\xfe\x00") }},
		{"a link", func(t *testing.T, m *member) {
			remove(t, m.store(), "x.md")
			link(t, filepath.Join(m.dir, "elsewhere.md"), filepath.Join(m.store(), "x.md"))
		}},
		{"its folder is a link", func(t *testing.T, m *member) {
			if err := os.Rename(filepath.Join(m.store(), "sub"), filepath.Join(m.dir, "sub")); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Join(m.dir, "sub"), filepath.Join(m.store(), "sub"))
		}},
		{"the index", func(t *testing.T, m *member) { m.put("MEMORY.md", "\xff\xfe\x00") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b, sync := pair(t)
			for _, m := range []*member{a} {
				m.topic("x", "## A\n\nOne.\n\n## B\n\nTwo.\n")
				m.topic("sub/y", "One.\n")
				m.topic("z", "One.\n")
			}
			a.publish()
			sync(a, b)
			b.pull(PullOptions{})
			c.spoil(t, a)
			a.put("z.md", topicText("z", "One, changed.\n"))
			if st := a.status(); st.Mine.Removed != 0 || len(st.Notes) == 0 {
				t.Errorf("%+v", st)
			}
			p := a.publish()
			got := filesOf(t, a.snapshot())
			for _, f := range p.Files {
				if f.Action != "changed" || f.Path != "z.md" {
					t.Errorf("published: %+v", f)
				}
			}
			if got["x.md"] == "" || got["sub/y.md"] == "" || strings.Count(got["MEMORY.md"], "](") != 3 || !strings.Contains(got["z.md"], "One, changed.") {
				t.Errorf("%s", show(got))
			}
			b.put("x.md", topicText("x", "## A\n\nOne, b.\n\n## B\n\nTwo.\n"))
			b.put("sub/y.md", topicText("sub/y", "One, b.\n"))
			b.topic("new", "New.\n")
			sync(a, b)
			b.pull(PullOptions{Apply: true})
			b.publish()
			sync(b, a)
			if c.name == "its folder is a link" { // looked into by nobody; here only that nothing is removed counts
				return
			}
			before := filesOf(t, a.store())
			a.pull(PullOptions{Apply: true, Wishes: []Wish{{Path: "*", Choice: TakeTheirs}}})
			after := filesOf(t, a.store())
			if after["new.md"] == "" || after["x.md"] != before["x.md"] && c.name != "the index" {
				t.Errorf("%s", show(after))
			}
			if c.name == "the index" && after["MEMORY.md"] != before["MEMORY.md"] {
				t.Errorf("the index: %q", after["MEMORY.md"])
			}
		})
	}
}

// TestPartlyReadStore: a memory that is larger than is read is neither published nor pulled
// into, since the rest would pass for deleted.
func TestPartlyReadStore(t *testing.T) {
	t.Parallel()
	m := newMember(t, "ann", t.TempDir())
	m.topic("x", "One.\n")
	m.publish()
	const most = 50
	for i := range most {
		m.put(fmt.Sprintf("a%d.md", i), "x\n")
	}
	ctx := context.WithValue(context.Background(), listedKey{}, most)
	before := show(filesOf(t, m.snapshot()))
	_, err := m.open().Publish(ctx, PublishOptions{Confirm: true})
	_, err2 := m.open().Pull(ctx, PullOptions{Apply: true})
	for _, err := range []error{err, err2} {
		if err == nil || !strings.Contains(err.Error(), "more than 50 names") {
			t.Errorf("%v", err)
		}
	}
	if show(filesOf(t, m.snapshot())) != before {
		t.Error("the snapshot changed")
	}
}

// TestNamesThatCollide: names that some file systems take for one are not published, since
// nobody could use a snapshot with both.
func TestNamesThatCollide(t *testing.T) {
	t.Parallel()
	m := newMember(t, "ann", t.TempDir())
	m.topic("note", "One.\n")
	m.topic("caf\u00e9", "One.\n")
	m.publish()
	m.topic("Note", "Two.\n")
	m.topic("cafe\u0301", "Two.\n")
	m.topic("fresh", "One.\n")
	m.topic("Fresh", "Two.\n")
	need.System(t, len(filesOf(t, m.store())) == 7, "this file system knows no case")
	p := m.publish()
	kinds := map[string]int{}
	for _, h := range p.Held {
		kinds[h.Kind]++
	}
	got := filesOf(t, m.snapshot())
	if kinds["name"] != 3 || len(got) != 5 || strings.Count(got["MEMORY.md"], "](") != 3 {
		t.Errorf("%+v\n%s", p.Held, show(got))
	}
	if st := m.status(); st.State == StateInvalid {
		t.Errorf("%+v", st.Problems)
	}
}

// TestRenameByCase: the old name goes before the new one comes, since where case does not
// count they are one file.
func TestRenameByCase(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("note", "One.\nTwo.\nThree.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	remove(t, a.store(), "note.md")
	remove(t, a.store(), "MEMORY.md")
	a.topic("Note", "One.\nTwo.\nThree.\n")
	var order []string
	s := a.open()
	s.instant = func(p string) error { order = append(order, p); return nil }
	if _, err := s.Publish(context.Background(), PublishOptions{Confirm: true}); err != nil {
		t.Fatal(err)
	}
	if len(order) != 4 || order[0] != "note.md" || order[1] != "Note.md" || order[3] != ManifestName {
		t.Errorf("written in the order %v", order)
	}
	sync(a, b)
	b.pull(PullOptions{Apply: true})
	if b.wantState(StateInSync); !strings.Contains(b.get("Note.md"), "Three") {
		t.Errorf("%s", show(filesOf(t, b.store())))
	}
}

// TestNoteAndNames: a note and the names of topics go to the team as well, and are held to
// the same.
func TestNoteAndNames(t *testing.T) {
	t.Parallel()
	m := newMember(t, "ann", t.TempDir())
	m.topic("fine", "One.\n")
	for _, note := range []string{"token ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "ask jane.doe@company.io", "see /home/jdoe/notes"} {
		if _, err := m.open().Publish(context.Background(), PublishOptions{Confirm: true, Note: note}); err == nil || !strings.Contains(err.Error(), "the note") {
			t.Errorf("%s: %v", note, err)
		}
	}
	m.topic("jane.doe@company.io", "One.\n")
	m.topic("ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a", "One.\n")
	p := m.publish()
	got := filesOf(t, m.snapshot())
	held := map[string]bool{}
	for _, h := range p.Held {
		held[h.Item] = true
	}
	if len(held) != 2 || len(got) != 3 || got["fine.md"] == "" {
		t.Errorf("%+v\n%s", p.Held, show(got))
	}
}

// TestPublishBounds: what no reader would take is not written.
func TestPublishBounds(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	half := strings.Repeat(strings.Repeat("much ", 400)+"\n", MaxFile*6/10/2001)
	a.topic("x", "## A\n\nOne.\n\n## B\n\nTwo.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	a.put("x.md", topicText("x", "## A\n\n"+half+"\n## B\n\nTwo.\n"))
	a.publish()
	sync(a, b)
	b.put("x.md", topicText("x", "## A\n\nOne.\n\n## B\n\n"+half+"\n"))
	b.topic("y", "More.\n")
	before := filesOf(t, b.snapshot())["x.md"]
	p, err := b.open().Publish(context.Background(), PublishOptions{Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	got := filesOf(t, b.snapshot())
	if len(p.Held) != 1 || p.Held[0].Kind != "size" || got["x.md"] != before || got["y.md"] == "" {
		t.Errorf("%+v", p.Held)
	}
	if st := b.status(); st.State == StateInvalid {
		t.Errorf("%+v", st.Problems)
	}
}

// TestHardLink: a file of the snapshot that is another file as well is exchanged, not
// written into.
func TestHardLink(t *testing.T) {
	m := newMember(t, "ann", t.TempDir())
	m.topic("x", "One.\n")
	m.publish()
	other := filepath.Join(m.dir, "other")
	if err := os.WriteFile(other, []byte(topicText("x", "One.\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"x.md", ManifestName} {
		data, err := os.ReadFile(filepath.Join(m.snapshot(), p))
		if err == nil {
			err = errors.Join(os.WriteFile(other+p, data, 0o600), os.Remove(filepath.Join(m.snapshot(), p)))
		}
		if err != nil {
			t.Fatal(err)
		}
		need.HardLink(t, other+p, filepath.Join(m.snapshot(), p))
	}
	before := show(filesOf(t, m.dir))
	m.put("x.md", topicText("x", "One, changed.\n"))
	m.publish()
	if b, err := os.ReadFile(other + "x.md"); err != nil || strings.Contains(string(b), "changed") {
		t.Errorf("%s %v", b, err)
	}
	if !strings.Contains(before, "One.") {
		t.Error("the test looks at nothing")
	}
}
