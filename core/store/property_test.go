package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/text"
)

// machine is two stores and another program at work on one directory, beside a
// model of what must be there: topics as sections, and the entries of the index.
type machine struct {
	stores  []*Store
	dir     string
	topics  map[string]map[string]string // path, section, text
	entries map[string]bool
	read    map[string]string // text of a topic that somebody read a while ago
	made    []made
	n       int
}

// made is an acknowledged edit of one section.
type made struct {
	id, path, section, old, new string
}

var sectionNames = []string{"A", "B", "C"}

func newMachine(t *rapid.T, base string) *machine {
	m := &machine{topics: map[string]map[string]string{}, entries: map[string]bool{}, read: map[string]string{}}
	m.dir = filepath.Join(base, "memory")
	for range 2 {
		s, err := New(Options{Directory: m.dir, StateDir: filepath.Join(base, "state"), Actor: "test", Origin: "o"})
		if err != nil {
			t.Fatal(err)
		}
		m.stores = append(m.stores, s)
	}
	return m
}

func (m *machine) close() {
	for _, s := range m.stores {
		_ = s.Close()
	}
}

func (m *machine) store(t *rapid.T) *Store {
	return m.stores[rapid.IntRange(0, 1).Draw(t, "store")]
}

// topic draws a topic that exists.
func (m *machine) topic(t *rapid.T) string {
	if len(m.topics) == 0 {
		t.Skip("no topic yet")
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.topics))).Draw(t, "topic")
}

func (m *machine) file(t *rapid.T, p string) string {
	b, err := os.ReadFile(filepath.Join(m.dir, p))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (m *machine) token() string { m.n++; return fmt.Sprintf("text %d", m.n) }

func (m *machine) view(t *rapid.T, s *Store) *Reading {
	v, err := s.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Losses) > 0 {
		t.Fatalf("losses %v", v.Losses)
	}
	return v
}

func (m *machine) apply(t *rapid.T, s *Store, c change.Change) (*Result, error) {
	r, err := s.Apply(context.Background(), c, How{})
	if err == nil && len(r.Losses) > 0 {
		t.Fatalf("losses %v", r.Losses)
	}
	return r, err
}

func (m *machine) Create(t *rapid.T) {
	s := m.store(t)
	name := fmt.Sprintf("t%d", m.n)
	sections := map[string]string{}
	var body strings.Builder
	for _, k := range sectionNames {
		sections[k] = m.token()
		fmt.Fprintf(&body, "## %s\n\n%s\n\n", k, sections[k])
	}
	c, err := m.view(t, s).Create(name+".md", memory(name, body.String()), stamp)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.apply(t, s, c); err != nil {
		t.Fatal(err)
	}
	m.topics[name+".md"], m.entries[name+".md"] = sections, true
}

// Read keeps a text, from which somebody writes later.
func (m *machine) Read(t *rapid.T) {
	p := m.topic(t)
	m.read[p] = m.file(t, p)
}

// Edit changes a section, starting from the newest text or an older one.
func (m *machine) Edit(t *rapid.T) {
	s, p, k := m.store(t), m.topic(t), rapid.SampledFrom(sectionNames).Draw(t, "section")
	base := m.file(t, p)
	if old, ok := m.read[p]; ok && rapid.Bool().Draw(t, "stale") {
		base = old
	}
	new := m.token()
	i := strings.Index(base, "## "+k+"\n\n") + len("## "+k+"\n\n")
	j := i + strings.IndexByte(base[i:], '\n')
	f, _ := change.EditFile(p, base, []text.Edit{{Span: text.Span{Start: i, End: j}, New: new}})
	r, err := m.apply(t, s, change.Change{Op: "edit", Files: []change.File{f}})
	before := m.topics[p][k]
	if base[i:j] != before {
		if !errors.As(err, new2[*ConflictError]()) {
			t.Fatalf("section %s of %s was %q and is %q: %v", k, p, base[i:j], before, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.topics[p][k] = new
	m.made = append(m.made, made{r.ID, p, k, before, new})
}

func new2[T any]() *T { return new(T) }

func (m *machine) Delete(t *rapid.T) {
	s, p := m.store(t), m.topic(t)
	if _, err := m.apply(t, s, m.view(t, s).Delete(p, m.file(t, p))); err != nil {
		t.Fatal(err)
	}
	m.forget(p)
}

func (m *machine) forget(p string) {
	delete(m.topics, p)
	delete(m.entries, p)
	delete(m.read, p)
	m.made = slices.DeleteFunc(m.made, func(x made) bool { return x.path == p })
}

func (m *machine) Move(t *rapid.T) {
	s, p := m.store(t), m.topic(t)
	m.n++
	to := fmt.Sprintf("sub/m%d.md", m.n)
	v := m.view(t, s)
	c, _, err := v.Move(context.Background(), v.Topic(p), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.apply(t, s, c); err != nil {
		t.Fatal(err)
	}
	m.topics[to], m.entries[to] = m.topics[p], true
	m.forget(p)
}

func (m *machine) Log(t *rapid.T) {
	note := m.token()
	if _, err := m.apply(t, m.store(t), memdir.Log(memdir.LogNote{Body: note}, stamp)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.file(t, memdir.LogPath(stamp.Now)), note) {
		t.Fatal("the note is not in the log")
	}
}

// OutsideEdit lets another program change a section.
func (m *machine) OutsideEdit(t *rapid.T) {
	p, k := m.topic(t), rapid.SampledFrom(sectionNames).Draw(t, "section")
	new := m.token()
	old := "## " + k + "\n\n" + m.topics[p][k] + "\n"
	m.overwrite(t, p, strings.Replace(m.file(t, p), old, "## "+k+"\n\n"+new+"\n", 1))
	m.topics[p][k] = new
}

// OutsideEntry lets another program add an entry somewhere in the index.
func (m *machine) OutsideEntry(t *rapid.T) {
	if len(m.topics) == 0 {
		t.Skip("no index yet")
	}
	m.n++
	name := fmt.Sprintf("theirs%d.md", m.n)
	lines := strings.SplitAfter(m.file(t, "MEMORY.md"), "\n")
	at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
	m.overwrite(t, "MEMORY.md", strings.Join(slices.Insert(lines, at, "- [theirs]("+name+")\n"), ""))
	m.entries[name] = true
}

func (m *machine) overwrite(t *rapid.T, p, content string) {
	full := filepath.Join(m.dir, p)
	if rapid.Bool().Draw(t, "in place") {
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(full+".new", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(full+".new", full); err != nil {
		t.Fatal(err)
	}
}

// UndoEdit takes an edit back, however old: it is a conflict where the section was
// changed since, and leaves all else alone.
func (m *machine) UndoEdit(t *rapid.T) {
	if len(m.made) == 0 {
		t.Skip("no edit yet")
	}
	i := rapid.IntRange(0, len(m.made)-1).Draw(t, "edit")
	x := m.made[i]
	_, err := m.store(t).Undo(context.Background(), x.id, How{})
	if now := m.topics[x.path][x.section]; now != x.new && now != x.old {
		if !errors.As(err, new2[*ConflictError]()) {
			t.Fatalf("undo of %+v, which is %q now: %v", x, now, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.topics[x.path][x.section] = x.old
	m.made = slices.Delete(m.made, i, i+1)
}

// ThereAndBack makes a change and takes it back at once: every byte is as before.
func (m *machine) ThereAndBack(t *rapid.T) {
	s, p := m.store(t), m.topic(t)
	before := m.files(t)
	v := m.view(t, s)
	var c change.Change
	var err error
	switch rapid.SampledFrom([]string{"create", "edit", "delete", "move"}).Draw(t, "change") {
	case "create":
		c, err = v.Create("sub/brief.md", memory("brief", "x"), stamp)
	case "edit":
		f, _ := change.EditFile(p, m.file(t, p), text.Diff(m.file(t, p), m.file(t, p)+"\n## D\n\nmore\n"))
		c = change.Change{Files: []change.File{f}}
	case "delete":
		c = v.Delete(p, m.file(t, p))
	case "move":
		c, _, err = v.Move(context.Background(), v.Topic(p), "sub/brief.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.apply(t, s, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.store(t).Undo(context.Background(), r.ID, How{}); err != nil {
		t.Fatal(err)
	}
	if after := m.files(t); !maps.Equal(before, after) {
		t.Fatalf("before:\n%s\nafter:\n%s", show(before), show(after))
	}
}

func (m *machine) files(t *rapid.T) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(m.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		out[p] = string(b)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// Check compares the directory with the model.
func (m *machine) Check(t *rapid.T) {
	v := m.view(t, m.stores[0])
	if got, want := len(v.Topics), len(m.topics); got != want {
		t.Fatalf("%d topics, want %d", got, want)
	}
	for p, sections := range m.topics {
		content := m.file(t, p)
		for k, s := range sections {
			if !strings.Contains(content, "## "+k+"\n\n"+s+"\n") {
				t.Fatalf("section %s of %s is not %q:\n%s", k, p, s, content)
			}
		}
		if strings.Count(content, "## ") != len(sections) {
			t.Fatalf("%s has sections that nobody wrote:\n%s", p, content)
		}
	}
	have := map[string]bool{}
	for _, e := range v.Index.Entries {
		if have[e.Target] {
			t.Fatalf("%s has two entries", e.Target)
		}
		have[e.Target] = true
	}
	if !maps.Equal(have, m.entries) {
		t.Fatalf("entries %v, want %v", have, m.entries)
	}
	for p := range m.files(t) {
		if strings.HasPrefix(filepath.Base(p), tempPrefix) {
			t.Fatalf("left behind: %s", p)
		}
	}
}

func TestRandomWorkOnOneDirectory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		base, err := os.MkdirTemp(fastDir(t), "run")
		if err != nil {
			rt.Fatal(err)
		}
		m := newMachine(rt, base)
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"": m.Check, "create": m.Create, "read": m.Read, "edit": m.Edit, "edit2": m.Edit, "delete": m.Delete, "move": m.Move, "log": m.Log,
			"outside edit": m.OutsideEdit, "outside entry": m.OutsideEntry, "undo": m.UndoEdit, "there and back": m.ThereAndBack,
		})
	})
}
