package agentmem

import (
	"context"
	"strings"
	"testing"

	"mem/core/proposal"
)

// TestDiscardIsSkip: news of which somebody discarded the proposal are not offered again;
// the rest of it waits as it did, and what the team changes later is news again.
func TestDiscardIsSkip(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	for _, n := range []string{"build", "tests", "gone"} {
		a.topic(n, "## Steps\n\nAs it was.\n")
	}
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	a.put("build.md", topicText("build", "## Steps\n\nAs the team has it.\n"))
	b.put("build.md", topicText("build", "## Steps\n\nAs it is here.\n"))
	a.topic("fresh", "New.\n")
	remove(t, a.store(), "gone.md")
	a.put("MEMORY.md", strings.Replace(a.get("MEMORY.md"), entryOf("gone"), "", 1))
	a.publish()
	sync(a, b)
	p := b.pull(PullOptions{})
	if p.Proposal == "" || p.Left.Conflicting != 1 || p.Left.Team.Removed != 1 {
		t.Fatalf("%+v", p)
	}
	discard := func(files ...string) {
		t.Helper()
		s := b.open()
		if _, err := proposal.Of(s.Memory()).Hearing(Discarders()).Discard(context.Background(), p.Proposal, proposal.Which{Files: files}, "not here"); err != nil {
			t.Fatal(err)
		}
	}
	discard("build.md", "gone.md")
	again := b.pull(PullOptions{})
	if st := again.Left; st.Conflicting != 0 || st.Team.Removed != 0 || st.Team.Added != 1 || st.Skipped != 2 || again.Proposal != p.Proposal {
		t.Errorf("what was discarded is offered again, or the rest as another proposal (%q, was %q): %+v", again.Proposal, p.Proposal, st)
	}
	discard()
	if st := b.status(); st.Action != ActionNone || st.Team.Sum() != 0 || st.Skipped != 3 {
		t.Errorf("%+v", st)
	}
	// What was skipped does not keep the rest from the team, and stays as the team has it.
	b.topic("own", "Mine.\n")
	done := b.publish()
	got := filesOf(t, b.snapshot())
	if got["own.md"] == "" || !strings.Contains(got["build.md"], "the team has it") || got["gone.md"] != "" || got["fresh.md"] == "" || len(done.Notes) != 1 {
		t.Errorf("%+v\n%s", done, show(got))
	}
	if b.get("gone.md") == "" || !strings.Contains(b.get("build.md"), "is here") || b.get("fresh.md") != "" {
		t.Errorf("%s", show(filesOf(t, b.store())))
	}
	// Changed again, it is news again.
	a.put("build.md", topicText("build", "## Steps\n\nAs the team has it now.\n"))
	sync(b, a)
	a.pull(PullOptions{Apply: true})
	a.publish()
	sync(a, b)
	if st := b.status(); st.Action != ActionPromptUpdate || st.Conflicting != 1 {
		t.Errorf("%+v", st)
	}
}

// TestDiscardOfOldNews: what the team changed since the proposal is not skipped unseen.
func TestDiscardOfOldNews(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("build", "One.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	a.put("build.md", topicText("build", "Two.\n"))
	a.publish()
	sync(a, b)
	p := b.pull(PullOptions{})
	a.put("build.md", topicText("build", "Three.\n"))
	a.publish()
	sync(a, b)
	s := b.open()
	if _, err := proposal.Of(s.Memory()).Hearing(Discarders()).Discard(context.Background(), p.Proposal, proposal.Which{}, ""); err != nil {
		t.Fatal(err)
	}
	if st := b.status(); st.Team.Changed != 1 || st.Skipped != 0 {
		t.Errorf("%+v", st)
	}
}
