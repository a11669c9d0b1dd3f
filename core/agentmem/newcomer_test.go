package agentmem

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memory"
	"mem/core/project"
	"mem/core/proposal"
)

// TestNothingToPublish: who publishes an empty memory is told what there is to do, and never
// to pull what is not there.
func TestNothingToPublish(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	refused := func(m *member) string {
		t.Helper()
		_, err := m.open().Publish(context.Background(), PublishOptions{})
		if err == nil {
			t.Fatal("nothing was published, and nothing said")
		}
		return err.Error()
	}
	if s := refused(a); strings.Contains(s, "pull") || !strings.Contains(s, "mem-mcp --store agent/reviewer/project write") {
		t.Errorf("without a snapshot: %s", s)
	}
	write(t, filepath.Join(a.dir, ".claude", "agent-memory", "tester"), "MEMORY.md", "- [x](x.md) — x\n")
	if s := refused(a); !strings.Contains(s, "tester") {
		t.Errorf("another agent has a memory: %s", s)
	}
	a.topic("build", "Run make.\n")
	a.publish()
	sync(a, b)
	if s := refused(b); !strings.Contains(s, "mem-mcp snapshot pull reviewer") {
		t.Errorf("with a snapshot: %s", s)
	}
}

// TestAgentsThatAreOnlyDefined: who has agents with a memory of the project, and none of it
// yet, hears their names.
func TestAgentsThatAreOnlyDefined(t *testing.T) {
	t.Parallel()
	a := newMember(t, "ann", t.TempDir())
	write(t, a.dir, ".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: d\nmemory: project\n---\nx\n")
	write(t, a.dir, ".claude/agents/private.md", "---\nname: private\ndescription: d\nmemory: user\n---\nx\n")
	where, err := project.Find(a.dir, project.Options{GOOS: a.env.GOOS})
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"", "rev"} {
		o, err := Overlook(context.Background(), memory.Options{Env: a.env, Project: a.dir}, where, agent, 0)
		if err != nil {
			t.Fatal(err)
		}
		if s := strings.Join(o.Notes, " "); !strings.Contains(s, "reviewer") || strings.Contains(s, "private") {
			t.Errorf("%q: %s", agent, s)
		}
	}
}

// TestPersonalWords: what is held back for a person is not told as what nobody can publish.
func TestPersonalWords(t *testing.T) {
	t.Parallel()
	a := newMember(t, "ann", t.TempDir())
	a.topic("build", "Run make.\n")
	a.put("me.md", strings.Replace(topicText("me", "Tabs.\n"), "type: project", "type: user", 1))
	st := a.wantState(StateNone)
	if s := st.Words(); strings.Contains(s, "never") || !strings.Contains(s, "1 topic about a person stays here") {
		t.Errorf("%s", s)
	}
	if err := os.Remove(filepath.Join(a.store(), "me.md")); err != nil {
		t.Fatal(err)
	}
	a.publish()
	if s := a.wantState(StateInSync).Words(); !strings.Contains(s, "in sync, 1 topic.") {
		t.Errorf("%s", s)
	}
}

// TestOlderIsTold: a checkout of an older commit is told as one by every way to look, and its
// snapshot becomes no proposal, which would take it without that being said.
func TestOlderIsTold(t *testing.T) {
	t.Parallel()
	a := newMember(t, "ann", t.TempDir())
	a.topic("build", "Run make.\n")
	a.publish()
	old := filesOf(t, a.snapshot())
	if a.wantState(StateInSync).Older {
		t.Error("the newest is told as older")
	}
	a.put("build.md", topicText("build", "Run make all.\n"))
	a.publish()
	checkout := func(files map[string]string) {
		for p, s := range files {
			write(t, a.snapshot(), p, s)
		}
	}
	checkout(old)
	st := a.wantState(StateAhead) // it holds nothing that was not here
	if !st.Older || !strings.Contains(st.Words(), "older") {
		t.Errorf("%+v: %s", st, st.Words())
	}
	b := newMember(t, "ben", t.TempDir())
	b.topic("build", "Run make on a branch.\n")
	b.publish()
	checkout(filesOf(t, b.snapshot()))
	if st = a.wantState(StateUpdate); !st.Older || !strings.Contains(st.Words(), "older") {
		t.Errorf("%+v: %s", st, st.Words())
	}
	p := a.pull(PullOptions{})
	if !strings.Contains(p.Text, "older") || strings.Contains(p.Text, "New team knowledge") {
		t.Errorf("%s", p.Text)
	}
	list, _, err := proposal.Of(a.open().Memory()).List(proposal.ListOptions{Kind: ProposalKind})
	if err != nil || p.Proposal != "" || len(list) > 0 {
		t.Errorf("an older snapshot is proposed: %q %d %v", p.Proposal, len(list), err)
	}
}
