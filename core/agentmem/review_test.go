package agentmem

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memory"
)

// conflicting gives a member whose memory and snapshot have changed the section "Rules"
// differently, while the team added a section "More" and a topic.
func conflicting(t *testing.T) *member {
	t.Helper()
	m := newMember(t, "ann", t.TempDir())
	m.topic("style", "## Rules\n\nOne.\n\n## Why\n\nSince.\n")
	m.publish()
	m.put("style.md", topicText("style", "## Rules\n\nMine.\n\n## Why\n\nSince.\n"))
	write(t, m.snapshot(), "style.md", topicText("style", "## Rules\n\nTheirs.\n\n## Why\n\nSince.\n\n## More\n\nNews.\n"))
	write(t, m.snapshot(), "fresh.md", topicText("fresh", "Fresh.\n"))
	write(t, m.snapshot(), "MEMORY.md", entryOf("fresh")+entryOf("style"))
	write(t, m.snapshot(), ManifestName, `{"updatedAt":"2026-11-30T10:00:00Z"}`)
	return m
}

func (m *member) review(over map[string]string) *Review {
	m.t.Helper()
	r, err := m.open().Review(context.Background(), over)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

func (m *member) take(path, part string, c Choice) map[string]string {
	m.t.Helper()
	ch, err := m.review(nil).Take(context.Background(), path, part, c)
	if err != nil {
		m.t.Fatalf("take %s of %s %s: %v", c, path, part, err)
	}
	after, err := ch.Apply(map[string]string{"style.md": m.get("style.md"), "MEMORY.md": m.get("MEMORY.md")})
	if err != nil {
		m.t.Fatal(err)
	}
	return after
}

func TestReview(t *testing.T) {
	m := conflicting(t)
	r := m.review(nil)
	if r.Status.State != StateDiverged || len(r.Files) < 2 {
		t.Fatalf("%+v", r.Status)
	}
	f := r.File("style.md")
	if f == nil || len(f.Conflicts) != 1 || f.Conflicts[0].Part != `the section "Rules"` || f.Conflicts[0].Ours == "" {
		t.Fatalf("%+v", f)
	}
	if news := f.News(); len(news) != 1 || !strings.Contains(news[0].Theirs, "News.") {
		t.Errorf("news %+v", news)
	}
	if f := r.File("fresh.md"); f == nil || f.Team != "added" || f.MinePath != "" || f.TheirPath != "fresh.md" {
		t.Errorf("%+v", f)
	}

	// What is typed and not saved counts: the conflict is over once the text is theirs.
	typed := topicText("style", "## Rules\n\nTheirs.\n\n## Why\n\nSince.\n")
	if f := m.review(map[string]string{"style.md": typed}).File("style.md"); f == nil || len(f.Conflicts) != 0 {
		t.Errorf("over a buffer: %+v", f)
	}
}

// Each choice about a part changes that part alone.
func TestTakeAPart(t *testing.T) {
	const part = `the section "Rules"`
	for choice, want := range map[Choice]string{
		TakeTheirs: "## Rules\n\nTheirs.\n\n## Why\n\nSince.\n",
		TakeBoth:   "## Rules\n\nMine.\n\nTheirs.\n\n## Why\n\nSince.\n",
	} {
		m := conflicting(t)
		after := m.take("style.md", part, choice)
		if got := after["style.md"]; got != topicText("style", want) {
			t.Errorf("%s gives\n%s", choice, got)
		}
		if len(after) != 2 {
			t.Errorf("%s touches %d files", choice, len(after))
		}
	}
	// The news of a file leave its conflicts.
	m := conflicting(t)
	after := m.take("style.md", "", TakeTheirs)
	if got := after["style.md"]; !strings.Contains(got, "News.") || !strings.Contains(got, "Mine.") || strings.Contains(got, "Theirs.") {
		t.Errorf("the news of the file give\n%s", got)
	}
	after = m.take("fresh.md", "", TakeTheirs)
	if after["fresh.md"] != topicText("fresh", "Fresh.\n") || !strings.Contains(after["MEMORY.md"], "fresh.md") {
		t.Errorf("a new topic gives %v", after)
	}
	after = m.take("*", "", TakeTheirs)
	if after["fresh.md"] == "" || !strings.Contains(after["style.md"], "Mine.") || !strings.Contains(after["style.md"], "News.") {
		t.Errorf("all gives %v", after)
	}
}

// What was kept or taken is not asked again, though it changes here later; what was not
// decided stays open.
func TestDecideIsRemembered(t *testing.T) {
	ctx := context.Background()
	m := conflicting(t)
	before := m.get("style.md")
	if err := m.open().Decide(ctx, Wish{Path: "style.md", Part: `the section "Rules"`, Choice: TakeMine}); err != nil {
		t.Fatal(err)
	}
	f := m.review(nil).File("style.md")
	if f == nil || len(f.Conflicts) != 0 || len(f.News()) != 1 || f.Mine == "" {
		t.Fatalf("after keeping mine: %+v", f)
	}
	if m.get("style.md") != before || m.get("fresh.md") != "" {
		t.Error("a decision changes the memory")
	}
	m.put("style.md", strings.Replace(before, "Mine.", "Mine again.", 1))
	if f := m.review(nil).File("style.md"); len(f.Conflicts) != 0 {
		t.Errorf("asked again: %+v", f.Conflicts)
	}
	if err := m.open().Decide(ctx, Wish{Path: "fresh.md", Choice: Skip}); err != nil {
		t.Fatal(err)
	}
	if f := m.review(nil).File("fresh.md"); f == nil || !f.Skipped || f.Team != "" {
		t.Errorf("skipped: %+v", f)
	}

	m = conflicting(t)
	m.put("style.md", m.take("style.md", `the section "Rules"`, TakeTheirs)["style.md"])
	if err := m.open().Settle(ctx); err != nil {
		t.Fatal(err)
	}
	m.put("style.md", strings.Replace(m.get("style.md"), "Theirs.", "Theirs, and better.", 1))
	f = m.review(nil).File("style.md")
	if len(f.Conflicts) != 0 || len(f.News()) != 1 {
		t.Errorf("asked again after taking: %+v", f)
	}
	if err := m.open().Decide(ctx, Wish{Path: "style.md", Choice: TakeTheirs}); err == nil {
		t.Error("a decision that changes the memory is taken")
	}
	if err := m.open().Decide(ctx, Wish{Path: "nowhere.md", Choice: Skip}); err == nil {
		t.Error("a decision about nothing is taken")
	}
}

func TestOpenAt(t *testing.T) {
	m := conflicting(t)
	o := memory.Options{Env: m.env, Project: m.dir}
	for dir, side := range map[string]bool{m.store(): false, m.snapshot(): true} {
		s, inSnapshot, err := OpenAt(o, dir)
		if err != nil || s == nil || inSnapshot != side || s.Store != m.store() || s.Snapshot != m.snapshot() {
			t.Fatalf("%s: %+v %v %v", dir, s, inSnapshot, err)
		}
		_ = s.Close()
	}
	for _, dir := range []string{m.dir, m.dir + "/.claude/agent-memory-local/reviewer", m.dir + "/.claude/agent-memory/.x"} {
		if s, _, err := OpenAt(o, dir); s != nil || err != nil {
			t.Errorf("%s is a side: %v", dir, err)
		}
	}
}

// TestSettleInTheMiddle: an editor saves what was taken file by file, and what lies on disk
// between two of them is nobody's decision.
func TestSettleInTheMiddle(t *testing.T) {
	ctx := context.Background()
	m := newMember(t, "ann", t.TempDir())
	m.put("MEMORY.md", "# Memory\n\n- [one](one.md) — about one\n- [two](two.md) — about two\n")
	m.put("one.md", topicText("one", "One says this.\n\nAnd that as well.\n"))
	m.put("two.md", topicText("two", "Two.\n"))
	m.publish()
	// The team renames one.md.
	sh := m.snapshot()
	body := m.get("one.md")
	other := newMember(t, "bob", t.TempDir())
	for p, s := range map[string]string{"MEMORY.md": "# Memory\n\n- [one](third.md) — about one\n- [two](two.md) — about two\n", "third.md": body, "two.md": topicText("two", "Two.\n")} {
		other.put(p, s)
	}
	other.publish()
	if err := os.RemoveAll(sh); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(sh, os.DirFS(other.snapshot())); err != nil {
		t.Fatal(err)
	}
	before := m.review(nil).File("MEMORY.md")
	if before == nil || len(before.News()) == 0 {
		t.Fatalf("the index has no news: %+v", before)
	}
	for _, between := range []func(){
		func() { m.put("third.md", body) },
		func() { _ = os.Remove(filepath.Join(m.store(), "one.md")) },
	} {
		between()
		if err := m.open().Settle(ctx); err != nil {
			t.Fatal(err)
		}
		if f := m.review(nil).File("MEMORY.md"); f == nil || len(f.News()) == 0 || f.Mine != "" {
			t.Errorf("the index is what the team has not, and nobody decided so: %+v", f)
		}
	}
	m.put("MEMORY.md", "# Memory\n\n- [one](third.md) — about one\n- [two](two.md) — about two\n")
	if err := m.open().Settle(ctx); err != nil {
		t.Fatal(err)
	}
	m.wantState(StateInSync)
}
