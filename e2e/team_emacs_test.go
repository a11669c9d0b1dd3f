package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestTeamInEmacs has somebody decide about a team's news in Emacs, where each choice is
// made once, take the rest, and publish what is their own.
func TestTeamInEmacs(t *testing.T) {
	_, err := exec.LookPath("emacs")
	need.That(t, "emacs, which scripts/editors.sh installs", err)
	_, err = exec.LookPath("git")
	need.That(t, "git", err)
	style := func(theirs, mine, both string) string {
		return sharedTopic("style", fmt.Sprintf("## Theirs\n\n%s\n\n## Mine\n\n%s\n\n## Both\n\n%s\n", theirs, mine, both))
	}
	const dir = "clone/.claude/agent-memory/reviewer/"
	ann, bob := team(t, "ann", "bob")
	ann.write(t, dir+"MEMORY.md", "# Memory\n\n- [style](style.md) — how we write\n")
	ann.write(t, dir+"style.md", style("Rule.", "Rule.", "Rule."))
	ann.run(binary, "snapshot", "publish", "reviewer", "--yes")
	ann.push()
	bob.start()
	bob.run(binary, "snapshot", "pull", "reviewer")
	ann.write(t, dir+"style.md", style("Of ann, one.", "Of ann, two.", "Of ann, three."))
	ann.write(t, dir+"new.md", sharedTopic("new", "News.\n"))
	ann.write(t, dir+"MEMORY.md", "# Memory\n\n- [style](style.md) — how we write\n- [new](new.md) — about new\n")
	ann.run(binary, "snapshot", "publish", "reviewer", "--yes")
	ann.push()
	bob.write(t, dir+"style.md", style("Of bob, one.", "Of bob, two.", "Of bob, three."))
	bob.pull()

	script, err := filepath.Abs("editors/eglot_team.el")
	if err != nil {
		t.Fatal(err)
	}
	s := drive(t, bob.place, bob.store(), "emacs", "--batch", "--eval", "(package-initialize)", "-l", script)
	if got, want := bob.read("style.md"), withoutEnd(style("Of ann, one.", "Of bob, two.", "Of bob, three.\n\nOf ann, three.")); got != want {
		t.Errorf("the decisions give\n%s\nwant\n%s", got, want)
	}
	if bob.read("new.md") != ann.read("new.md") || !strings.Contains(bob.read("MEMORY.md"), "(new.md)") {
		t.Errorf("the news are\n%s\n%s", bob.read("new.md"), bob.read("MEMORY.md"))
	}
	if len(s.Questions) != 1 || !strings.Contains(s.Questions[0], "style.md changed") {
		t.Errorf("it asks %q", s.Questions)
	}
	if out := bob.run(binary, "snapshot", "status", "reviewer"); !strings.Contains(out, "in sync") {
		t.Errorf("bob: %s", out)
	}
	bob.push()
	ann.pull()
	ann.run(binary, "snapshot", "pull", "reviewer", "--apply")
	if out := ann.run(binary, "snapshot", "status", "reviewer"); !strings.Contains(out, "in sync") || ann.read("style.md") != bob.read("style.md") {
		t.Errorf("ann: %s\n%s", out, ann.read("style.md"))
	}
}
