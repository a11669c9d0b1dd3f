package transcript

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/guard"
	"mem/core/project"
	"mem/core/store"
	"mem/internal/need"
)

// move is a project that was at w/old and is at w/new, with the client's folders.
type move struct {
	*home
	old, now string
	project  project.Project
	store    *store.Store
}

func newMove(t *testing.T, oldMemory, newMemory map[string]string) *move {
	t.Helper()
	h := newHome(t)
	p := h.repository("new")
	m := &move{home: h, old: h.path("w", "old"), now: p.Root, project: p}
	for name, text := range oldMemory {
		h.write(filepath.Join(m.memory(m.old), name), text)
	}
	for name, text := range newMemory {
		h.write(filepath.Join(m.memory(m.now), name), text)
	}
	scanner, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.store, err = store.New(store.Options{Directory: m.memory(m.now), StateDir: h.env.StateDir, Guard: scanner, Now: h.env.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.store.Close() })
	return m
}

func (m *move) memory(root string) string { return memoryOf(m.env, root) }

func (m *move) options() AdoptOptions {
	scanner, err := guard.New(guard.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	return AdoptOptions{Old: m.old, Project: m.project, Store: m.store, Guard: scanner}
}

func (m *move) adopt() *Adopted {
	m.t.Helper()
	got, err := Adopt(m.t.Context(), m.env, m.options())
	if err != nil {
		m.t.Fatal(err)
	}
	return got
}

// files is a memory directory as a map.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			all[filepath.ToSlash(rel)] = string(text)
			return err
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

func TestAdoptIntoNothing(t *testing.T) {
	memory := map[string]string{
		"MEMORY.md":                  "# Memory\n\n- [Build](build.md) — how to\n- [Deep](sub/deep.md) — below\n",
		"build.md":                   "---\nname: build\ndescription: how to\ntype: project\n---\n\nRun make. See [deep](sub/deep.md).\n",
		"sub/deep.md":                "---\r\nname: deep\r\ntype: user\r\n---\r\n\r\nSee [[build]].\r\n",
		"logs/2026/11/2026-11-01.md": "## 10:00:00 note\n\ntext\n",
		"README.md":                  "for people\n",
	}
	m := newMove(t, memory, nil)
	m.session(m.old, id(1), chat(m.old, "in the old place", "yes"), time.Hour)
	m.session(filepath.Join(m.old, "sub"), id(2), chat(filepath.Join(m.old, "sub"), "below the old place"), time.Hour)
	m.session(m.old+"er", id(3), chat(m.old+"er", "another project"), time.Hour)
	before := tree(t, filepath.Join(m.env.Home, ".claude", "projects", project.Slug(m.old)))
	got := m.adopt()
	want := maps.Clone(memory)
	delete(want, "README.md")
	if d := cmp.Diff(want, files(t, m.memory(m.now))); d != "" {
		t.Errorf("memory: %s", d)
	}
	if d := cmp.Diff(before, tree(t, filepath.Join(m.env.Home, ".claude", "projects", project.Slug(m.old)))); d != "" {
		t.Errorf("the old place changed: %s", d)
	}
	if got.ID == "" || got.ID != got.Change || len(got.Sessions.Sessions) != 2 || !strings.Contains(got.Words(), "4 taken over") {
		t.Errorf("%+v\n%s", got, got.Words())
	}
	found := m.find(FindOptions{Project: m.project})
	list := ids(found)
	slices.Sort(list)
	if d := cmp.Diff([]string{id(1), id(2)}, list); d != "" || found.List[0].From != m.old || found.List[0].Origin != OriginArchive {
		t.Errorf("sessions: %s %+v", d, found.List[0])
	}
	// Again: nothing new.
	again := m.adopt()
	if again.Change != "" || again.ID != got.ID || !slices.Equal(actions(again.Sessions), []string{id(1) + " unchanged", id(2) + " unchanged"}) {
		t.Errorf("again: %+v %v", again, actions(again.Sessions))
	}
	// Taken back, and back again.
	if _, err := m.store.Undo(t.Context(), got.ID, store.How{}); err != nil {
		t.Fatal(err)
	}
	if a, err := Reinstate(m.env, m.memory(m.now), got.ID, false); err != nil || a == nil || a.Undone.IsZero() {
		t.Fatalf("%+v, %v", a, err)
	}
	if left := files(t, m.memory(m.now)); len(left) != 0 {
		t.Errorf("left after undo: %v", left)
	}
	if list := ids(m.find(FindOptions{Project: m.project})); len(list) != 0 {
		t.Errorf("found after undo: %v", list)
	}
	if _, err := Reinstate(m.env, m.memory(m.now), got.ID, true); err != nil {
		t.Fatal(err)
	}
	if list := ids(m.find(FindOptions{Project: m.project})); len(list) != 2 {
		t.Errorf("found after redo: %v", list)
	}
	if a, err := Reinstate(m.env, m.memory(m.now), "0123", false); a != nil || err != nil {
		t.Errorf("an id that is none: %v, %v", a, err)
	}
}

func TestAdoptIntoMemory(t *testing.T) {
	m := newMove(t, map[string]string{
		"MEMORY.md":                  "# Old memory\n\n- [Build](build.md) — old way\n- [Same](same.md) — the same\n- [Only](only.md) — only here\n- [Secret](secret.md) — left\n\nWords of mine.\n",
		"build.md":                   "---\nname: build\ntype: project\n---\n\nOld way.\n",
		"same.md":                    "---\nname: same\ntype: user\nmodified: 2026-01-01T00:00:00.000Z\n---\n\nEqual.\n",
		"only.md":                    "---\nname: only\ntype: user\n---\n\nSee [build](build.md#part), [[build]] and [same](same.md).\n",
		"secret.md":                  "token ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
		"logs/2026/11/2026-11-01.md": "## 10:00:00 old\n\ntext\n",
	}, map[string]string{
		"MEMORY.md":                  "# Memory\r\n\r\n- [Build](build.md) — new way\r\n- [Same](same.md) — told otherwise\r\n",
		"build.md":                   "---\nname: build\ntype: project\n---\n\nNew way.\n",
		"same.md":                    "---\nname: same\ntype: user\nmodified: 2026-11-11T00:00:00.000Z\noriginSessionId: x\n---\n\nEqual.\n",
		"logs/2026/11/2026-11-01.md": "## 11:00:00 new\n\ntext\n",
	})
	before := files(t, m.memory(m.now))
	got := m.adopt()
	want := maps.Clone(before)
	want["MEMORY.md"] += "- [Build](build-from-old.md) — old way\r\n- [Only](only.md) — only here\r\n\r\nWords of mine.\r\n"
	want["build-from-old.md"] = "---\nname: build-from-old\ntype: project\n---\n\nOld way.\n"
	want["only.md"] = "---\nname: only\ntype: user\n---\n\nSee [build](build-from-old.md#part), [[build-from-old]] and [same](same.md).\n"
	want["logs/2026/11/2026-11-01.md"] += "\n## 10:00:00 old\n\ntext\n"
	if d := cmp.Diff(want, files(t, m.memory(m.now))); d != "" {
		t.Errorf("memory (-want +got): %s", d)
	}
	var told []string
	for _, f := range got.Files {
		told = append(told, f.Path+" "+f.Action)
	}
	slices.Sort(told)
	if d := cmp.Diff([]string{"MEMORY.md merged", "build.md under another name", "logs/2026/11/2026-11-01.md merged", "only.md taken over", "same.md there already", "secret.md left behind"}, told); d != "" {
		t.Error(d)
	}
	// What a person did to it since is not undone by doing it again.
	m.write(filepath.Join(m.memory(m.now), "only.md"), "changed here\n")
	if err := os.Remove(filepath.Join(m.memory(m.now), "build-from-old.md")); err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(m.memory(m.old), "late.md"), "came later\n")
	again := m.adopt()
	after := files(t, m.memory(m.now))
	if after["late.md"] != "came later\n" || after["only.md"] != "changed here\n" || after["build-from-old.md"] != "" || after["only-from-old.md"] != "" || again.Change == "" {
		t.Errorf("again: %v\n%v", again.Files, slices.Sorted(maps.Keys(after)))
	}
	if _, err := m.store.Undo(t.Context(), again.Change, store.How{}); err != nil {
		t.Error(err)
	}
	if _, err := m.store.Undo(t.Context(), got.Change, store.How{}); err == nil {
		t.Error("undone over what a person changed since")
	}
}

func TestAdoptUndoRestores(t *testing.T) {
	m := newMove(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": "old\n", "logs/2026/11/2026-11-01.md": "## 10:00:00 old\n"},
		map[string]string{"MEMORY.md": "# Memory\n\n- [A](a.md) — y\n", "a.md": "new\n", "logs/2026/11/2026-11-01.md": "## 11:00:00 new\n"})
	before := files(t, m.memory(m.now))
	got := m.adopt()
	if _, err := m.store.Undo(t.Context(), got.Change, store.How{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, files(t, m.memory(m.now))); d != "" {
		t.Error(d)
	}
}

func TestAdoptSessionsOnly(t *testing.T) {
	m := newMove(t, nil, nil)
	path := m.session(m.old, id(1), chat(m.old, "x"), time.Hour)
	got := m.adopt()
	if got.ID == "" || got.Change != "" || len(got.Sessions.Sessions) != 1 || got.Memory != "" {
		t.Errorf("%+v", got)
	}
	// The client deletes the original.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if list := ids(m.find(FindOptions{Project: m.project})); !slices.Equal(list, []string{id(1)}) {
		t.Errorf("found: %v", list)
	}
	if _, err := Reinstate(m.env, m.memory(m.now), got.ID, false); err != nil {
		t.Fatal(err)
	}
	all := m.find(FindOptions{})
	if len(m.find(FindOptions{Project: m.project}).List) != 0 || len(all.List) != 1 || all.List[0].From != "" {
		t.Errorf("after undo: %v", ids(all))
	}
}

// TestAdoptAfterACrash is about a process that died before it could record what it took over.
func TestAdoptAfterACrash(t *testing.T) {
	m := newMove(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": "---\nname: a\n---\n\nold\n"},
		map[string]string{"MEMORY.md": "# Memory\n\n- [A](a.md) — y\n", "a.md": "---\nname: a\n---\n\nnew\n"})
	m.session(m.old, id(1), chat(m.old, "x"), time.Hour)
	m.adopt()
	state, err := StateOf(m.env, m.memory(m.now))
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, m.memory(m.now))
	if err := os.RemoveAll(filepath.Join(state, adoptionsDir)); err != nil {
		t.Fatal(err)
	}
	got := m.adopt()
	if d := cmp.Diff(before, files(t, m.memory(m.now))); d != "" || got.Change != "" {
		t.Errorf("%s %+v", d, got)
	}
	if list := ids(m.find(FindOptions{Project: m.project})); len(list) != 1 {
		t.Errorf("sessions: %v", list)
	}
}

// TestAdoptOfTheSameSlug is about a project that the client's folder name does not tell apart
// from what it was: its memory is there already.
func TestAdoptOfTheSameSlug(t *testing.T) {
	m := newMove(t, nil, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": "x\n"})
	old := m.path("w.new")
	m.session(old, id(1), chat(old, "x"), time.Hour)
	if len(m.find(FindOptions{Project: m.project}).List) != 0 {
		t.Fatal("found before it was taken over")
	}
	o := m.options()
	o.Old = old
	before := files(t, m.memory(m.now))
	got, err := Adopt(t.Context(), m.env, o)
	if err != nil || got.Change != "" || len(got.Sessions.Sessions) != 1 || len(m.find(FindOptions{Project: m.project}).List) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if d := cmp.Diff(before, files(t, m.memory(m.now))); d != "" {
		t.Error(d)
	}
}

func TestAdoptThroughSymlink(t *testing.T) {
	m := newMove(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": "old\n"}, nil)
	need.Link(t, m.path("w"), m.path("link"))
	o := m.options()
	o.Old = m.path("link", "old")
	if got, err := Adopt(t.Context(), m.env, o); err != nil || got.From != m.old || len(got.Files) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAdoptIsRefused(t *testing.T) {
	m := newMove(t, nil, map[string]string{"MEMORY.md": "# Memory\n"})
	there := m.repository("there")
	m.session(there.Root, id(1), chat(there.Root, "x"), time.Hour)
	for old, want := range map[string]string{
		"":                     "no directory",
		m.path("w", "nothing"): "neither memory nor a session",
		there.Root:             "still there",
		m.memory(m.now):        "neither memory nor a session",
	} {
		o := m.options()
		o.Old = old
		if _, err := Adopt(t.Context(), m.env, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", old, err)
		}
	}
	o := m.options()
	o.Old, o.StillThere = m.now, true
	if _, err := Adopt(t.Context(), m.env, o); err == nil || !strings.Contains(err.Error(), "this project") {
		t.Errorf("itself: %v", err)
	}
	o.Old = there.Root
	if got, err := Adopt(t.Context(), m.env, o); err != nil || len(got.Sessions.Sessions) != 1 {
		t.Errorf("one that is still there, by a person's word: %v, %v", got, err)
	}
}

func TestAdoptByMemoryDirectory(t *testing.T) {
	m := newMove(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": "old\n"}, nil)
	m.session(m.old, id(1), chat(m.old, "x"), time.Hour)
	o := m.options()
	o.Old = m.memory(m.old)
	got, err := Adopt(t.Context(), m.env, o)
	if err != nil || got.From != m.old || len(got.Sessions.Sessions) != 1 || files(t, m.memory(m.now))["a.md"] != "old\n" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFindMoved(t *testing.T) {
	m := newMove(t, map[string]string{"MEMORY.md": "- [A](a.md) — x\n", "a.md": "x\n"}, nil)
	for _, f := range []string{"main.go", "core/a.go", "core/b.go"} {
		m.write("w/new/"+f, "x")
	}
	m.write("w/new/.git/packed-refs", "# pack-refs\n0123456789012345678901234567890123456789 refs/heads/feature/x\n")
	tool := func(root, branch string, files ...string) string {
		var b strings.Builder
		b.WriteString(strings.ReplaceAll(chat(root, "x"), `"gitBranch":"main"`, `"gitBranch":"`+branch+`"`))
		for i, f := range files {
			b.WriteString(jsonl("parentUuid", nil, "isSidechain", false, "type", "assistant", "uuid", id(i), "cwd", root, "gitBranch", branch,
				"message", map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "t", "name": "Read", "input": map[string]any{"file_path": root + "/" + f}}}}))
		}
		return b.String()
	}
	// Renamed: another name, but the same files.
	m.session(m.old, id(1), tool(m.old, "feature/x", "main.go", "core/a.go", "core/gone.go"), time.Hour)
	m.session(filepath.Join(m.old, "core"), id(2), chat(filepath.Join(m.old, "core"), "below"), 2*time.Hour)
	// Moved: the same name elsewhere.
	named := m.path("gone", "new")
	m.session(named, id(3), chat(named, "x"), 3*time.Hour)
	// Something else of the same name.
	other := m.path("other", "new")
	m.session(other, id(4), tool(other, "main", "index.html", "style.css"), time.Minute)
	// Not candidates: gone without anything in common, and one that is still there.
	m.session(m.path("w", "unlike"), id(5), tool(m.path("w", "unlike"), "main", "x.py"), time.Minute)
	there := m.repository("there")
	m.session(there.Root, id(6), tool(there.Root, "main", "main.go", "core/a.go"), time.Minute)
	m.session(filepath.Join(m.now, "deleted"), id(7), tool(filepath.Join(m.now, "deleted"), "main", "main.go"), time.Minute) // its own
	m.untouched()

	got, err := FindMoved(t.Context(), m.env, m.project, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, x := range got {
		told = append(told, strings.TrimPrefix(x.Root, m.dir)+": "+strings.Join(x.Why, "; "))
	}
	want := []string{
		"/w/old: 2 of 3 files that its sessions worked on are here; its branch feature/x is here",
		"/gone/new: the directory had the same name",
		"/other/new: the directory had the same name; none of the files that its sessions worked on are here",
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
	if x := got[0]; !x.Certain || x.Sessions != 2 || x.Topics != 1 || x.Memory != m.memory(m.old) || len(x.Folders) != 2 || got[1].Certain {
		t.Errorf("%+v", x)
	}
	o := m.options()
	if _, err := Adopt(t.Context(), m.env, o); err != nil {
		t.Fatal(err)
	}
	if got, err = FindMoved(t.Context(), m.env, m.project, nil); err != nil || got[0].Adopted == "" || got[0].Certain {
		t.Errorf("after it was taken over: %+v, %v", got[0], err)
	}
}
