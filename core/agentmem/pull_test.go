package agentmem

import (
	"context"
	"strings"
	"testing"

	"mem/core/proposal"
)

// pair gives two members who look at one snapshot: B's folder is copied from A's, as git
// would do it.
func pair(t *testing.T) (a, b *member, sync func(from, to *member)) {
	t.Helper()
	a, b = newMember(t, "ann", t.TempDir()), newMember(t, "ben", t.TempDir())
	return a, b, func(from, to *member) {
		t.Helper()
		for p := range filesOf(t, to.snapshot()) {
			remove(t, to.snapshot(), p)
		}
		for p, s := range filesOf(t, from.snapshot()) {
			write(t, to.snapshot(), p, s)
		}
	}
}

func TestThroughAllStates(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("build", "## Steps\n\nRun make.\n\n## Traps\n\nNone.\n")
	if st := a.wantState(StateNone); st.Action != ActionNone || st.Topics != 1 {
		t.Errorf("%+v", st)
	}
	done := a.publish()
	if len(done.Files) != 2 || done.UpdatedAt == "" {
		t.Errorf("%+v", done)
	}
	a.wantState(StateInSync)
	sync(a, b)
	if st := b.wantState(StateInitialize); st.Action != ActionInitialize || st.Team.Added != 2 {
		t.Errorf("%+v", st)
	}
	if p := b.pull(PullOptions{}); !p.Initialized || p.ID == "" || p.Left.State != StateInSync {
		t.Errorf("%+v", p)
	}
	if show(filesOf(t, a.store())) != show(filesOf(t, b.store())) {
		t.Error("a copy is not what was copied")
	}
	// Ahead, then published and pulled.
	b.topic("tests", "Run them with -race.\n")
	if st := b.wantState(StateAhead); st.Mine.Added != 1 || st.Mine.Changed != 1 {
		t.Errorf("%+v", st)
	}
	b.publish()
	b.wantState(StateInSync)
	sync(b, a)
	st := a.wantState(StateUpdate)
	if st.Action != ActionPromptUpdate || st.Team.Added != 1 || st.Team.Changed != 1 {
		t.Errorf("%+v", st)
	}
	p := a.pull(PullOptions{})
	if p.ID != "" || !strings.Contains(p.Text, "| Run them with -race.") {
		t.Errorf("a pull that decides nothing has to tell and change nothing: %+v", p)
	}
	if p = a.pull(PullOptions{Apply: true}); p.Left.State != StateInSync || a.get("tests.md") == "" {
		t.Errorf("%+v", p)
	}
	// Both change: one part cleanly, one part differently.
	a.put("build.md", topicText("build", "## Steps\n\nRun make all.\n\n## Traps\n\nNone.\n"))
	b.put("build.md", topicText("build", "## Steps\n\nRun make.\n\n## Traps\n\nBeware of CGO.\n"))
	b.publish()
	sync(b, a)
	if st := a.wantState(StateDiverged); st.Conflicting != 0 {
		t.Errorf("%+v", st)
	}
	a.pull(PullOptions{Apply: true})
	if s := a.get("build.md"); !strings.Contains(s, "make all") || !strings.Contains(s, "CGO") {
		t.Errorf("%s", s)
	}
	a.wantState(StateAhead)
	a.publish()
	sync(a, b)
	b.pull(PullOptions{Apply: true})
	b.wantState(StateInSync)
	// The same section twice.
	a.put("build.md", topicText("build", "## Steps\n\nRun make one.\n\n## Traps\n\nBeware of CGO.\n"))
	b.put("build.md", topicText("build", "## Steps\n\nRun make two.\n\n## Traps\n\nBeware of CGO.\n"))
	b.publish()
	sync(b, a)
	if st := a.wantState(StateDiverged); st.Conflicting != 1 || len(st.Files[0].Parts) != 1 {
		t.Errorf("%+v", st)
	}
	if _, err := a.open().Publish(context.Background(), PublishOptions{Confirm: true}); err == nil || !strings.Contains(err.Error(), "Pull first") {
		t.Errorf("a publish over a conflict: %v", err)
	}
	p = a.pull(PullOptions{Apply: true})
	if p.Left.Conflicting != 1 || !strings.Contains(p.Text, "| Run make two.") || !strings.Contains(p.Text, "| Run make one.") {
		t.Errorf("%+v", p)
	}
	p = a.pull(PullOptions{Wishes: []Wish{{Path: "build.md", Part: `the section "Steps"`, Choice: TakeMine}}})
	if p.Left.State != StateAhead {
		t.Errorf("what was decided is asked again: %+v", p.Left)
	}
	a.publish()
	sync(a, b)
	b.pull(PullOptions{Apply: true})
	b.wantState(StateInSync)
	if !strings.Contains(b.get("build.md"), "make one") {
		t.Error(b.get("build.md"))
	}
}

// TestUndoOfAPull: news that were taken and undone wait again; they are not taken back from
// the team.
func TestUndoOfAPull(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("build", "## Steps\n\nRun make.\n")
	a.topic("old", "Old.\nStill.\nHere.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	a.put("build.md", topicText("build", "## Steps\n\nRun make all.\n"))
	a.topic("tests", "With -race.\n")
	a.publish()
	sync(a, b)
	p := b.pull(PullOptions{Apply: true})
	b.wantState(StateInSync)
	b.pull(PullOptions{Apply: true}) // nothing new, and it may not forget
	if _, err := b.open().Memory().Undo(context.Background(), p.ID); err != nil {
		t.Fatal(err)
	}
	st := b.wantState(StateUpdate)
	if st.Team.Changed != 2 || st.Team.Added != 1 || len(st.Notes) == 0 {
		t.Errorf("%+v", st)
	}
	before := show(filesOf(t, b.snapshot()))
	if done := b.publish(); len(done.Files) != 0 || show(filesOf(t, b.snapshot())) != before {
		t.Errorf("what was undone here was taken back from the team: %+v", done.Files)
	}
	b.pull(PullOptions{Apply: true})
	if b.wantState(StateInSync); !strings.Contains(b.get("build.md"), "make all") || b.get("tests.md") == "" {
		t.Errorf("%s", show(filesOf(t, b.store())))
	}
}

// TestProposal: news wait as one proposal; applied, they count as taken, also where both
// texts of a conflict were kept.
func TestProposal(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("build", "## Steps\n\nRun make.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	a.put("build.md", topicText("build", "## Steps\n\nRun make all.\n"))
	a.topic("tests", "With -race.\n")
	a.publish()
	sync(a, b)
	b.put("build.md", topicText("build", "## Steps\n\nRun make one.\n"))
	first := b.pull(PullOptions{})
	if again := b.pull(PullOptions{}); first.Proposal == "" || again.Proposal != first.Proposal {
		t.Fatalf("proposed as %q, then as %q: %v", first.Proposal, again.Proposal, first.Left.Notes)
	}
	s := b.open()
	done, err := proposal.Of(s.Memory()).Apply(context.Background(), first.Proposal, proposal.Which{})
	if err != nil || len(done.Held) > 0 {
		t.Fatal(done, err)
	}
	st := b.wantState(StateAhead)
	if text := b.get("build.md"); st.Conflicting != 0 || !strings.Contains(text, "make all") || !strings.Contains(text, "make one") || b.get("tests.md") == "" {
		t.Errorf("%+v\n%s", st, text)
	}
}
