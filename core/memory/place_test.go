package memory

import (
	"errors"
	"strings"
	"testing"

	"mem/core/memdir"
	"mem/core/store"
)

// TestFilesOfARepositoryAreNotMemory: at the root of a repository only what the
// index links is a topic; everything else is the project's own and is neither
// read nor written, and no error gives its text or hash away.
func TestFilesOfARepositoryAreNotMemory(t *testing.T) {
	w := newWorld(t)
	const guide = "---\nname: guide\ndescription: of the project\ntype: user\n---\n\n# Guide\n\nbody SECRETWORD\n"
	w.put(".git/HEAD", "ref: refs/heads/main\n")
	w.put("MEMORY.md", "- [a](a.md) — a\n")
	w.put("a.md", "---\nname: a\ndescription: d\ntype: user\n---\n\na\n")
	w.put("docs/guide.md", guide)
	w.put("guide.md", guide)
	m := w.open()
	read := must(m.Read(t.Context(), "a.md", ""))(t)
	other := note("guide", "EVIL")
	other.Path = "docs/guide.md"
	withHash := other
	withHash.ExpectedHash = read.Hash
	for name, call := range map[string]func() error{
		"read":            func() error { _, err := m.Read(t.Context(), "docs/guide.md", ""); return err },
		"write":           func() error { _, err := m.Write(t.Context(), other); return err },
		"write, hash":     func() error { _, err := m.Write(t.Context(), withHash); return err },
		"write by a name": func() error { _, err := m.Write(t.Context(), note("guide", "EVIL")); return err },
		"edit": func() error {
			_, err := m.Edit(t.Context(), Edit{Topic: "docs/guide.md", EditOf: memdir.EditOf{Old: "body", New: "EVIL"}})
			return err
		},
		"edit, hash": func() error {
			_, err := m.Edit(t.Context(), Edit{Topic: "docs/guide.md", ExpectedHash: read.Hash, EditOf: memdir.EditOf{Old: "body", New: "EVIL"}})
			return err
		},
		"delete":       func() error { _, err := m.Delete(t.Context(), "docs/guide.md", ""); return err },
		"delete, hash": func() error { _, err := m.Delete(t.Context(), "docs/guide.md", read.Hash); return err },
		"move from":    func() error { _, err := m.Move(t.Context(), "docs/guide.md", "b.md"); return err },
		"move to":      func() error { _, err := m.Move(t.Context(), "a.md", "docs/guide.md"); return err },
	} {
		err := call()
		var exists *ExistsError
		var conflict *store.ConflictError
		if err == nil || errors.As(err, &exists) || errors.As(err, &conflict) || strings.Contains(err.Error(), "SECRETWORD") {
			t.Errorf("%s: err = %v", name, err)
		}
		if !strings.Contains(err.Error(), "does not link it") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if w.get("docs/guide.md") != guide || w.get("guide.md") != guide {
		t.Error("a file of the repository was changed")
	}
	fresh := note("fresh", "x")
	fresh.Path = "docs/fresh.md"
	if r := must(m.Write(t.Context(), fresh))(t); !r.Created {
		t.Errorf("written = %+v", r)
	}
	if r := must(m.Read(t.Context(), "docs/fresh.md", ""))(t); r.Name != "fresh" {
		t.Errorf("read = %+v", r)
	}
}

func TestAMemoryDirectoryBelowIsAnother(t *testing.T) {
	w := newWorld(t)
	w.put("a.md", "---\nname: a\ndescription: d\ntype: user\n---\n\na\n")
	w.put("agent/MEMORY.md", "")
	w.put("agent/b.md", "---\nname: b\ndescription: d\ntype: user\n---\n\nb\n")
	m := w.open()
	read := must(m.Read(t.Context(), "a.md", ""))(t)
	for _, p := range []string{"agent/b.md", "agent/new.md"} {
		for _, hash := range []string{"", read.Hash} {
			n := note("b", "EVIL")
			n.Path, n.ExpectedHash = p, hash
			if _, err := m.Write(t.Context(), n); err == nil || !strings.Contains(err.Error(), "memory directory of its own") {
				t.Errorf("%s, hash %q: err = %v", p, hash, err)
			}
		}
		if _, err := m.Move(t.Context(), "a", p); err == nil || !strings.Contains(err.Error(), "memory directory of its own") {
			t.Errorf("move to %s: err = %v", p, err)
		}
	}
	if _, err := m.Read(t.Context(), "agent/b.md", ""); err == nil || !strings.Contains(err.Error(), "memory directory of its own") {
		t.Errorf("read: err = %v", err)
	}
}

func TestCursorsAndPathsAreChecked(t *testing.T) {
	m := newWorld(t).open()
	must(m.Write(t.Context(), note("a", "x")))(t)
	if _, err := m.History(t.Context(), HistoryOptions{Cursor: "no such"}); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("err = %v", err)
	}
	if r := must(m.Move(t.Context(), "a", " b.md "))(t); r.Path != "b.md" {
		t.Errorf("moved = %+v", r)
	}
	deep := note("deep", "x")
	deep.Path = strings.Repeat("d/", 17) + "x.md"
	if _, err := m.Write(t.Context(), deep); err == nil || !strings.Contains(err.Error(), "deeper than 16 folders") {
		t.Errorf("err = %v", err)
	}
	if _, err := m.Write(t.Context(), note("c", "x")); err != nil {
		t.Error(err)
	}
}
