package agentmem

import (
	"strings"
	"testing"
)

// TestARenameOutlivesWhatIsTakenInTurns: the entry of a topic that has another name here
// keeps leading to it when news are taken in two turns.
func TestARenameOutlivesWhatIsTakenInTurns(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("build", "## Steps\n\nRun make.\n\n## Traps\n\nNone.\n")
	a.topic("old", "Old.\nStill.\nHere.\n")
	a.topic("kept", "Kept.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{Apply: true})
	// Here one is renamed; the team changes its text and deletes another one.
	b.put("making.md", b.get("build.md"))
	remove(t, b.store(), "build.md")
	b.put("MEMORY.md", strings.ReplaceAll(b.get("MEMORY.md"), "(build.md)", "(making.md)"))
	a.put("build.md", strings.Replace(a.get("build.md"), "Run make.", "Run make all.", 1))
	remove(t, a.store(), "old.md")
	var left []string
	for _, line := range strings.SplitAfter(a.get("MEMORY.md"), "\n") {
		if !strings.Contains(line, "(old.md)") {
			left = append(left, line)
		}
	}
	a.put("MEMORY.md", strings.Join(left, ""))
	a.publish()
	sync(a, b)
	b.pull(PullOptions{Apply: true}) // a deletion waits for somebody to decide
	b.pull(PullOptions{Apply: true, Wishes: []Wish{{Path: "old.md", Choice: TakeTheirs}}})
	b.wantState(StateAhead)
	if s := b.get("making.md"); !strings.Contains(s, "make all") {
		t.Errorf("the team's text was not taken: %s", s)
	}
	if s := b.get("MEMORY.md"); !strings.Contains(s, "(making.md)") || strings.Contains(s, "(build.md)") || strings.Contains(s, "(old.md)") {
		t.Errorf("the index is\n%s", s)
	}
}
