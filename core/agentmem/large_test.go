package agentmem

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mem/core/proposal"
)

// large gives a topic of one section with so many lines, one of which is another.
func large(lines, other int, text string) string {
	var b strings.Builder
	b.WriteString("## Big\n\n")
	for i := range lines {
		if i == other {
			b.WriteString(text + "\n")
			continue
		}
		fmt.Fprintf(&b, "line %d of a large topic, which goes on for very long\n", i)
	}
	return topicText("big", b.String())
}

// TestLargeConflict: of a long section is shown what differs, and no choice makes a topic
// that no memory holds.
func TestLargeConflict(t *testing.T) {
	t.Parallel()
	const lines = 9_800 // two such sections are more than a topic holds
	a, b, sync := pair(t)
	a.topic("big", "")
	a.put("big.md", large(lines, -1, ""))
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	b.put("big.md", large(lines, 8_000, "Theirs is here."))
	b.topic("small", "News.\n")
	b.publish()
	sync(b, a)
	a.put("big.md", large(lines, 4_000, "Mine is here."))
	p := a.pull(PullOptions{})
	if !strings.Contains(p.Text, "| Mine is here.") || !strings.Contains(p.Text, "| Theirs is here.") {
		t.Errorf("what differs is not shown:\n%s", p.Text)
	}
	if !strings.Contains(p.Text, "lines that both have") || strings.Contains(p.Text, "line 3000 ") {
		t.Errorf("what both have is shown:\n%s", p.Text)
	}
	before := a.get("big.md")
	both := []Wish{{Path: "big.md", Choice: TakeBoth}}
	_, err := a.open().Pull(context.Background(), PullOptions{Wishes: both})
	if err == nil || !strings.Contains(err.Error(), "big.md") || !strings.Contains(err.Error(), "theirs") {
		t.Fatalf("both texts of a large topic: %v", err)
	}
	r, err := a.open().Review(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Take(context.Background(), "big.md", `the section "Big"`, TakeBoth); err == nil {
		t.Error("the editor takes both texts of a large topic")
	}
	if a.get("big.md") != before {
		t.Error("it was written")
	}
	// It keeps no other news from waiting as a proposal, which says so.
	waits, err := proposal.Of(a.open().Memory()).Get(context.Background(), p.Proposal)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range waits.Units {
		for _, f := range u.Change.Files {
			if f.Path == "big.md" {
				t.Error("it is proposed to keep both texts of a large topic")
			}
		}
	}
	if !strings.Contains(strings.Join(p.Left.Notes, " "), "big.md") {
		t.Errorf("%q", p.Left.Notes)
	}
	a.pull(PullOptions{Apply: true, Wishes: []Wish{{Path: "big.md", Choice: TakeMine}}})
	a.wantState(StateAhead)
}
