package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/memory"
	"mem/internal/need"
)

func (s *scene) list() *Stores {
	s.t.Helper()
	l, err := List(context.Background(), s.open(""), Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

func (s *scene) store(l *Stores, name string) Store {
	s.t.Helper()
	for _, x := range l.Stores {
		if x.Name == name {
			return x
		}
	}
	s.t.Fatalf("there is no store %s in %+v", name, l.Stores)
	return Store{}
}

func notes(x Store) string { return strings.Join(x.Notes, "\n") }

func TestList(t *testing.T) {
	s := newScene(t)
	s.git()
	s.topic(s.in(".claude", "agent-memory", "reviewer"), "style", "Short.")
	s.topic(s.in(".claude", "agent-memory-local", "tester"), "flaky", "The clock test.")
	s.topic(filepath.Join(s.home, ".claude", "agent-memory", "writer"), "tone", "Dry.")
	s.topic(s.in(".claude", "agent-memory", "a.b"), "lost", "Nobody can say this name.")
	s.put(s.in(".claude", "agent-memory-snapshots", "reviewer", "snapshot.json"), `{"updatedAt":"2026-11-30T00:00:00Z"}`)
	s.put(s.in(".claude", "agents", "reviewer.md"), "---\nname: reviewer\nmemory: project\n---\nYou review.\n")
	s.put(s.in(".claude", "agents", "sub", "tester.md"), "---\nname: tester\nmemory: user\n---\n")
	s.put(s.in(".claude", "agents", "planner.md"), "---\nname: my.planner\ndescription: plans\nmemory: local\n---\n")
	s.put(s.in(".claude", "agents", "plain.md"), "---\nname: plain\n---\n")
	s.put(s.in(".claude", "agents", "broken.md"), "---\nname: [\n")
	s.put(s.in(".claude", "agents", "slip.md"), "---\nname: slip\nmemory: proj\n---\n")
	s.put(s.in(".claude", "agents", "none.md"), "---\nname: none\nmemory: false\n---\n")
	s.put(filepath.Join(s.home, ".claude", "agents", "writer.md"), "---\nmemory: user\n---\n")
	s.put(filepath.Join(s.home, "handbook", "deploy.md"), "---\nname: deploy\ndescription: How\ntype: reference\n---\n\nBy hand.\n")
	s.put(s.env.ConfigFile(), "stores:\n  handbook: ~/handbook\n  gone: ~/gone\n")

	l := s.list()
	if l.Project != s.base || len(l.Split) != 0 {
		t.Errorf("%+v", l)
	}
	if all := strings.Join(l.Notes, "\n"); strings.Count(all, "keeps no memory") != 1 || !strings.Contains(all, "slip.md: memory is proj, which is none of user, project and local") {
		t.Errorf("%q", l.Notes)
	}
	if x := s.store(l, "agent/reviewer/project"); !x.Snapshot || x.Health.Topics != 1 || len(x.Defined) != 1 || len(x.Notes) != 0 || x.Health.LastChange == nil {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "agent/tester/local"); !strings.Contains(notes(x), "memory: user, so nobody uses") {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "agent/tester/user"); x.Exists || !strings.Contains(notes(x), "written none yet") {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "agent/my-planner/local"); x.Exists || x.Directory != s.in(".claude", "agent-memory-local", "my-planner") {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "agent/writer/user"); len(x.Defined) != 1 || x.Health.Topics != 1 {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, ""); x.Agent != "a.b" || !strings.Contains(notes(x), "no store addresses it") {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "extra/handbook"); !x.ReadOnly || x.Health.Topics != 1 {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "extra/gone"); x.Exists || !strings.Contains(notes(x), "does not exist") {
		t.Errorf("%+v", x)
	}
	if x := s.store(l, "auto"); x.Exists {
		t.Errorf("%+v", x)
	}
	if n := len(l.Stores); n != 9 {
		t.Errorf("%d stores: %+v", n, l.Stores)
	}
	names, err := Names(t.Context(), s.open(""))
	if want := []string{"agent/reviewer/project", "agent/tester/local", "agent/writer/user", "extra/handbook"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names %q, %v", names, err)
	}
	if l, err := List(t.Context(), s.open(""), Options{Agent: "my.planner"}); err != nil || len(l.Stores) != 1 {
		t.Errorf("only one agent's: %+v, %v", l, err)
	}
	if l, err := List(t.Context(), s.open(""), Options{Agent: "nobody"}); err == nil {
		t.Errorf("an agent that does not exist is no error: %+v", l)
	}
}

// TestSplit: memory in subdirectories and worktrees is found and brought together, and
// nothing of it is lost.
func TestSplit(t *testing.T) {
	s := newScene(t)
	s.git()
	wt := s.worktree("other")
	main := s.in(".claude", "agent-memory", "reviewer")
	s.topic(main, "style", "Short.")
	sub := s.in("service", "api", ".claude", "agent-memory", "reviewer")
	s.topic(sub, "style", "Long, in the service.")
	s.topic(sub, "errors", "Wrapped. See [style](style.md).")
	tree := filepath.Join(wt, ".claude", "agent-memory", "reviewer")
	s.topic(tree, "style", "Long, in the service.") // the same as below service
	s.topic(s.in("lib", ".claude", "agent-memory-local", "tester"), "flaky", "The clock.")
	// None of these is looked into.
	for _, dir := range []string{"node_modules/x", ".hidden", "vendor", "nested"} {
		s.topic(s.in(filepath.FromSlash(dir), ".claude", "agent-memory", "reviewer"), "no", "No.")
	}
	s.put(s.in("nested", ".git", "HEAD"), "ref: refs/heads/main\n")

	l := s.list()
	var where []string
	for _, p := range l.Split {
		where = append(where, fmt.Sprintf("%s %s %s %d %t", p.Kind, filepath.Base(p.Where), p.Store, p.Topics, p.Same))
	}
	slices.Sort(where)
	if want := []string{"subdirectory api agent/reviewer/project 2 false", "subdirectory lib agent/tester/local 1 false", "worktree other agent/reviewer/project 1 false"}; !slices.Equal(where, want) {
		t.Fatalf("split: %q", where)
	}
	if !strings.Contains(l.Split[0].Merge, "mem-mcp stores merge ") {
		t.Errorf("no fix is offered: %+v", l.Split[0])
	}

	m := s.open("")
	merge := func(given string) *United {
		t.Helper()
		from, err := SourceOf(m, given)
		if err != nil {
			t.Fatal(err)
		}
		into := s.open(from.Name.String())
		u, err := Unite(t.Context(), from, into)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := merge(sub)
	read := func(p string) string {
		t.Helper()
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if !strings.Contains(read(filepath.Join(main, "style.md")), "Short.") {
		t.Error("what was there changed")
	}
	if got := read(filepath.Join(main, "style-from-api.md")); !strings.Contains(got, "Long, in the service.") || !strings.Contains(got, "name: style-from-api") {
		t.Errorf("the second name: %s", got)
	}
	if got := read(filepath.Join(main, "errors.md")); !strings.Contains(got, "[style](style-from-api.md)") {
		t.Errorf("a link does not follow: %s", got)
	}
	if got := read(filepath.Join(main, "MEMORY.md")); !strings.Contains(got, "(style.md)") || !strings.Contains(got, "(style-from-api.md)") || !strings.Contains(got, "(errors.md)") {
		t.Errorf("the index: %s", got)
	}
	if again := merge(sub); again.ID != "" {
		t.Errorf("merging twice changes something: %+v", again.Change)
	}
	if same := merge(tree); same.ID != "" || same.Files[0].Action != "there already" {
		t.Errorf("what came from elsewhere comes again: %+v", same)
	}
	for _, p := range s.list().Split {
		if p.Store == "agent/reviewer/project" && (!p.Same || p.Merge != "") {
			t.Errorf("what was merged is still offered: %+v", p)
		}
	}
	if w := merge(filepath.Dir(filepath.Dir(s.in("lib", ".claude", "agent-memory-local", "tester"))) + "/agent-memory-local/tester"); w.ID == "" || w.Store != "agent/tester/local" {
		t.Errorf("%+v", w)
	}
	into := s.open("agent/reviewer/project")
	if _, err := into.Undo(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(main, "errors.md")); err == nil {
		t.Error("undo leaves what came")
	}
	if strings.Contains(read(filepath.Join(main, "MEMORY.md")), "errors.md") || !strings.Contains(read(filepath.Join(sub, "errors.md")), "Wrapped") {
		t.Error("undo leaves an entry, or takes the source")
	}

	// The warnings of a memory that is opened there.
	s.env.Cwd = s.in("service", "api")
	if x := s.open("agent/reviewer/project"); x.Location.Directory != main || !strings.Contains(strings.Join(x.Location.Warnings, "\n"), sub) {
		t.Errorf("in a subdirectory: %s, %q", x.Location.Directory, x.Location.Warnings)
	}
	s.env.Cwd = wt
	if x := s.open("agent/reviewer/project"); x.Location.Directory != main || !strings.Contains(strings.Join(x.Location.Warnings, "\n"), tree) {
		t.Errorf("in a worktree: %s, %q", x.Location.Directory, x.Location.Warnings)
	}
}

// TestUniteSettles: whatever names clash and whoever links whom, a second union of the
// same brings nothing.
// MEM_UNIONS is how many are tried, by default few: each writes some ten files.
func TestUniteSettles(t *testing.T) {
	most, tried := 25, 0
	if n, err := strconv.Atoi(os.Getenv("MEM_UNIONS")); err == nil {
		most = n
	}
	rapid.Check(t, func(r *rapid.T) {
		if tried++; tried > most {
			return
		}
		s := newScene(t)
		main, sub := s.in(".claude", "agent-memory", "x"), s.in("sub", ".claude", "agent-memory", "x")
		for _, dir := range []string{main, sub} {
			for i := range rapid.IntRange(1, 5).Draw(r, "topics") {
				body := rapid.SampledFrom([]string{"One.", "Two.", "See [a](t0.md).", "See [b](t1.md) and [[t2]].", "See [c](t2.md), [d](t3.md)."}).Draw(r, "body")
				s.topic(dir, fmt.Sprintf("t%d", i), body)
			}
		}
		m := s.open("")
		from, err := SourceOf(m, sub)
		if err != nil {
			r.Fatal(err)
		}
		into := s.open("agent/x/project")
		first, err := Unite(t.Context(), from, into)
		if err != nil {
			r.Fatal(err)
		}
		for _, f := range first.Files {
			if f.Action == "left behind" {
				r.Fatalf("%+v", f)
			}
			if _, err := os.Stat(filepath.Join(main, f.To)); err != nil {
				r.Fatal(err)
			}
		}
		if again, err := Unite(t.Context(), from, into); err != nil || again.ID != "" {
			r.Fatalf("a second union changes %+v, %v", again, err)
		}
	})
}

func TestUniteRefuses(t *testing.T) {
	s := newScene(t)
	dir := s.in(".claude", "agent-memory", "reviewer")
	s.topic(dir, "style", "Short.")
	m := s.open("")
	for _, given := range []string{s.base, "/etc", "agent/x", s.in("docs"), "extra/none"} {
		if from, err := SourceOf(m, given); err == nil {
			t.Errorf("SourceOf(%q) = %+v", given, from)
		}
	}
	from, err := SourceOf(m, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Unite(t.Context(), from, s.open("agent/reviewer/project")); err == nil || !strings.Contains(err.Error(), "itself") {
		t.Errorf("into itself: %v", err)
	}
	if from, err = SourceOf(m, "agent/nobody/user"); err != nil {
		t.Fatal(err)
	}
	if _, err := Unite(t.Context(), from, s.open("agent/reviewer/project")); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("of nothing: %v", err)
	}
	secret := s.in("a", ".claude", "agent-memory", "reviewer")
	s.topic(secret, "key", "The key is ghp_"+"Zq7Lm2Xc9Vb4Nk8Rt6Yp1Wd3Hf5Gs0Ja2Ku7")
	if from, err = SourceOf(m, secret); err != nil {
		t.Fatal(err)
	}
	u, err := Unite(t.Context(), from, s.open("agent/reviewer/project"))
	if err != nil || u.Files[0].Action != "left behind" || !strings.Contains(u.Files[0].Reason, "guard") {
		t.Errorf("a secret: %+v, %v", u, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "key.md")); err == nil {
		t.Error("the secret was written")
	}
}

// TestHostileCheckout: links and odd files in the places of agents are told and not
// followed.
func TestHostileCheckout(t *testing.T) {
	s := newScene(t)
	s.topic(filepath.Join(s.home, "notes"), "private", "Mine.")
	for _, d := range []string{s.in(".claude", "agent-memory"), s.in("a", ".claude"), s.in(".claude", "agents")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		s.in(".claude", "agent-memory", "evil"): filepath.Join(s.home, "notes"),
		s.in(".claude", "agent-memory-local"):   filepath.Join(s.home, "notes"),
		s.in("a", ".claude", "agent-memory"):    filepath.Join(s.home, "notes"),
		s.in(".claude", "agents", "evil.md"):    filepath.Join(s.home, "notes", "private.md"),
		s.in("loop"):                            s.base,
	} {
		need.Link(t, to, link)
	}
	s.put(s.in(".claude", "agent-memory", "file"), "no folder")
	l := s.list()
	if len(l.Stores) != 1 || len(l.Split) != 0 {
		t.Errorf("%+v", l)
	}
	told := strings.Join(l.Notes, "\n")
	for _, want := range []string{"evil is a symbolic link", "agent-memory-local is no folder but a symbolic link", "evil.md cannot be read"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told: %s", want, told)
		}
	}
	if _, err := memory.Open(memory.Options{Env: s.env, Store: "agent/evil/project"}); err == nil {
		t.Error("a link out of the project is opened")
	}
}

// TestSwappedLink: a checkout that puts a link where the store was not yet gets nothing
// written through it.
func TestSwappedLink(t *testing.T) {
	s := newScene(t)
	m := s.open("agent/reviewer/project")
	outside := filepath.Join(s.home, "notes")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.in(".claude", "agent-memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	need.Link(t, outside, s.in(".claude", "agent-memory", "reviewer"))
	w := memory.Write{}
	w.Name, w.Type, w.Description, w.Body = "style", "project", "How we write", "Short.\n\n**Why:** readers.\n\n**How to apply:** cut.\n"
	if _, err := m.Write(t.Context(), w); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("writing through a link: %v", err)
	}
	if _, err := m.List(t.Context(), memory.ListOptions{}); err == nil {
		t.Error("reading through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("%v was written, %v", entries, err)
	}
}

func TestWithoutGitAndInOtherPlaces(t *testing.T) {
	s := newScene(t)
	s.topic(s.in(".claude", "agent-memory", "reviewer"), "style", "Short.")
	if l := s.list(); s.store(l, "agent/reviewer/project").Health.Topics != 1 {
		t.Errorf("%+v", l)
	}
	// The home directory is the project: one place, listed once.
	s.base, s.env.Cwd = s.home, s.home
	s.topic(filepath.Join(s.home, ".claude", "agent-memory", "writer"), "tone", "Dry.")
	l := s.list()
	s.store(l, "agent/writer/user")
	if slices.ContainsFunc(l.Stores, func(x Store) bool { return x.Name == "agent/writer/project" }) || !strings.Contains(strings.Join(l.Notes, " "), "are the same") {
		t.Errorf("%+v", l)
	}
	// A bare repository, and a worktree of it.
	b := newScene(t)
	bare := filepath.Join(filepath.Dir(b.base), "bare.git")
	b.put(filepath.Join(bare, "HEAD"), "ref: refs/heads/main\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(bare, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.env.Cwd = bare
	if _, err := memory.Open(memory.Options{Env: b.env, Store: "agent/x/project"}); err == nil || !strings.Contains(err.Error(), "bare") {
		t.Errorf("in a bare repository: %v", err)
	}
	if l := b.list(); !strings.Contains(strings.Join(l.Notes, " "), "bare") {
		t.Errorf("%+v", l)
	}
	own := filepath.Join(bare, "worktrees", "w")
	wt := filepath.Join(filepath.Dir(b.base), "w")
	b.put(filepath.Join(wt, ".git"), "gitdir: "+own+"\n")
	b.put(filepath.Join(own, "HEAD"), "0123456789012345678901234567890123456789\n")
	b.put(filepath.Join(own, "commondir"), "../..\n")
	b.put(filepath.Join(own, "gitdir"), filepath.Join(wt, ".git")+"\n")
	b.env.Cwd = wt
	if m := b.open("agent/x/project"); m.Location.Directory != filepath.Join(wt, ".claude", "agent-memory", "x") {
		t.Errorf("in a worktree of a bare repository: %s", m.Location.Directory)
	}
}

func TestArgument(t *testing.T) {
	for _, tt := range []struct{ goos, given, want string }{
		{"linux", "/a/b-c.d", "/a/b-c.d"}, {"linux", "/a b/it's", `'/a b/it'\''s'`}, {"linux", `/a\b`, `'/a\b'`}, {"linux", "/a;rm -rf", "'/a;rm -rf'"},
		{"windows", `C:\a\b`, `C:\a\b`}, {"windows", `C:\my files`, `"C:\my files"`}, {"linux", "/a\nb", ""}, {"linux", "/日本/メモ", "/日本/メモ"},
	} {
		if got := argument(tt.goos, tt.given); got != tt.want {
			t.Errorf("%s: %s → %s, want %s", tt.goos, tt.given, got, tt.want)
		}
	}
}
