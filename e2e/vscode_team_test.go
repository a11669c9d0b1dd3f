package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVSCodeTeam has somebody look at what a team shares in VS Code, take what conflicts
// with nothing, decide conflicts in every way, and publish.
func TestVSCodeTeam(t *testing.T) {
	withVSCode(t)
	ann, bob := team(t, "ann", "bob")
	at := func(m *mate, name, text string) {
		t.Helper()
		if err := os.MkdirAll(m.store(), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.store(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	style := func(rule, why, names, length string) string {
		return sharedTopic("style", "## Rules\n\n"+rule+"\n\n## Why\n\n"+why+"\n\n## Names\n\n"+names+"\n\n## Length\n\n"+length+"\n")
	}
	const index = "# Memory\n\n- [style](style.md) — how we write\n"
	at(ann, "MEMORY.md", index)
	at(ann, "style.md", style("Tabs.", "Since 2020.", "Short.", "80."))
	ann.run(binary, "snapshot", "publish", "reviewer", "--yes")
	ann.push()
	bob.start()
	bob.run(binary, "snapshot", "pull", "reviewer", "--apply")
	if bob.read("style.md") != ann.read("style.md") {
		t.Fatal("the first copy")
	}
	at(ann, "MEMORY.md", index+"- [retries](retries.md) — how often we try again\n")
	at(ann, "retries.md", sharedTopic("retries", "Three times, then a person.\n"))
	at(ann, "style.md", style("Tabs, eight wide.", "Since 2020, by a vote.", "Short and plain.", "90."))
	ann.run(binary, "snapshot", "publish", "reviewer", "--yes")
	ann.push()
	at(bob, "MEMORY.md", index+"- [local](local.md) — how to start it here\n")
	at(bob, "local.md", sharedTopic("local", "With make run.\n"))
	at(bob, "style.md", style("Tabs, four wide.", "Since 2020.", "Short and clear.", "100."))
	bob.pull()

	w := inVSCode(t, bob.place, "team.mjs", "MEM_DIR="+bob.clone)
	if !some(w.Lenses, "conflict", "snapshot of") || !some(w.Lenses, "Review 4 files") || !some(w.Lenses, "Take all that conflicts with nothing") || !some(w.Lenses, "Publish ") {
		t.Errorf("lenses: %q", w.Lenses)
	}
	if !some(w.Index, "snapshot-newer") {
		t.Errorf("problems of the index: %q", w.Index)
	}
	for what, text := range map[string]string{"the review": w.Review, "the difference": w.Difference} {
		if !strings.Contains(text, "base, mine and theirs") {
			t.Errorf("%s: %s", what, text)
		}
	}
	for _, want := range []string{"Tabs.", "Tabs, four wide.", "Tabs, eight wide."} {
		if !strings.Contains(w.Difference, want) {
			t.Errorf("the difference does not show %q: %s", want, w.Difference)
		}
	}
	if w.Taken["retries.md"] != ann.read("retries.md")+"\n" || !strings.Contains(w.Taken["MEMORY.md"], "(retries.md)") || !strings.Contains(w.Taken["MEMORY.md"], "(local.md)") {
		t.Errorf("after taking all: %q", w.Taken)
	}
	if w.Taken["style.md"] != style("Tabs, four wide.", "Since 2020, by a vote.", "Short and clear.", "100.") || w.Before["style.md"] != style("Tabs, four wide.", "Since 2020.", "Short and clear.", "100.") {
		t.Errorf("of the topic with a conflict: %q, then %q", w.Before["style.md"], w.Taken["style.md"])
	}
	if !some(w.Topic, "snapshot-conflict", "Rules") {
		t.Errorf("problems of the topic: %q", w.Topic)
	}
	for _, want := range []string{"Take theirs", "Keep mine", "Take both", "Open the difference"} {
		if !some(w.Choices, want) {
			t.Errorf("%q is not offered: %q", want, w.Choices)
		}
	}
	if !strings.Contains(w.Hover, "ann") {
		t.Errorf("hover: %s", w.Hover)
	}
	if w.Decided["style.md"] != style("Tabs, eight wide.", "Since 2020, by a vote.", "Short and clear.", "100.\n\n90.") {
		t.Errorf("decided: %q", w.Decided["style.md"])
	}
	if !strings.Contains(w.Question, "local.md added") || !strings.Contains(w.Told, "Published to") {
		t.Errorf("asked: %s\ntold: %s", w.Question, w.Told)
	}
	if want := []string{"MEMORY.md", "local.md", "retries.md", "snapshot.json", "style.md"}; !slices.Equal(w.Published, want) {
		t.Errorf("the snapshot holds %q", w.Published)
	}
	if len(w.LensesAfter) != 1 || !w.Alive {
		t.Errorf("lenses at the end: %q; the drive came to its end: %v", w.LensesAfter, w.Alive)
	}
}
