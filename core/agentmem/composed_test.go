package agentmem

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestComposedByGit: git on macOS commits names with composed letters, whatever the disk has,
// so that others have another spelling of a name than snapshot.json lists. It is the same
// snapshot, and its topics are the same topics.
func TestComposedByGit(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	apart, composed := norm.NFD.String("café"), norm.NFC.String("café")
	a.topic(apart, "One.\n\n## Steps\n\nRun make.\n")
	a.topic("other", "Two.\n")
	a.publish()
	commit := func(m *member) { // as git has it
		t.Helper()
		for p, s := range filesOf(t, m.snapshot()) {
			if c := norm.NFC.String(p); c != p {
				remove(t, m.snapshot(), p)
				write(t, m.snapshot(), c, s)
			}
		}
	}
	sync(a, b)
	commit(b)
	b.wantState(StateInitialize)
	b.pull(PullOptions{})
	b.wantState(StateInSync)
	b.put(composed+".md", strings.Replace(b.get(composed+".md"), "Run make.", "Run make all.", 1))
	if p := b.publish(); len(p.Held) > 0 {
		t.Errorf("%+v", p.Held)
	}
	sync(b, a)
	if st := a.wantState(StateUpdate); st.Conflicting != 0 {
		t.Errorf("%+v", st)
	}
	a.pull(PullOptions{Apply: true})
	a.wantState(StateInSync)
	if show(filesOf(t, a.store())) != show(filesOf(t, b.store())) {
		t.Errorf("they differ:\n%s\n%s", show(filesOf(t, a.store())), show(filesOf(t, b.store())))
	}
	// Two topics whose names differ in nothing else are not both shared, and what is said about
	// it is that.
	a.topic(apart, "Three.\n")
	p, err := a.open().Publish(context.Background(), PublishOptions{})
	if err != nil || len(p.Held) != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	if s := p.Held[0].Words("reviewer"); !strings.Contains(s, "composed") || strings.Contains(s, "take it out first") {
		t.Errorf("%s", s)
	}
	// What is another text is not taken for it.
	write(t, b.snapshot(), composed+".md", "Other.\n")
	b.wantState(StateInvalid)
}
