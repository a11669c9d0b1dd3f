package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// newTeamPlace gives a place with real git: a checkout in which the memory of an agent was published
// and committed.
func newTeamPlace(t *testing.T) (p *place, git func(dir string, args ...string) string) {
	t.Helper()
	need.Program(t, "git")
	p = newPlace(t)
	git = func(dir string, args ...string) string {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir = dir
		c.Env = p.with("GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_COMMITTER_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git(p.project, "init", "-q", "-b", "main", ".")
	p.write(t, "project/.gitignore", ".claude/agent-memory/\n")
	p.write(t, "project/.claude/agent-memory/reviewer/MEMORY.md", "- [style](style.md) — how we write\n")
	p.write(t, "project/.claude/agent-memory/reviewer/style.md", "---\nname: style\ndescription: How we write\ntype: project\n---\n\nShort.\n")
	if out, err := p.mem(p.project, "snapshot", "publish", "reviewer", "--yes"); err != nil {
		t.Fatal(out)
	}
	git(p.project, "add", "-A")
	git(p.project, "commit", "-qm", "share")
	return p, git
}

func (p *place) mem(dir string, args ...string) (string, error) {
	c := exec.Command(binary, args...)
	c.Dir, c.Env = dir, p.env
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestSnapshotsReadOnly: another user looks at a checkout that they may not write: state and
// a dry run work, and what would write says what it may not.
func TestSnapshotsReadOnly(t *testing.T) {
	p, _ := newTeamPlace(t)
	p.write(t, "project/.claude/agent-memory-snapshots/tester/MEMORY.md", "- [t](t.md) — t\n")
	p.write(t, "project/.claude/agent-memory-snapshots/tester/t.md", "---\nname: t\ndescription: T\ntype: project\n---\n\nText.\n")
	p.write(t, "project/.claude/agent-memory-snapshots/tester/snapshot.json", `{"updatedAt":"2026-01-02T10:00:00Z"}`)
	p.write(t, "project/.claude/agent-memory/reviewer/more.md", "---\nname: more\ndescription: More\ntype: project\n---\n\nMore.\n")
	before := snapshotOf(t, p.project)
	as := giveTo(t, p.root)
	writable := readOnly(t, p.project)
	for _, c := range []struct {
		args  []string
		says  string
		works bool
	}{
		{[]string{"snapshot"}, "tester: the team shares 1 topic and", true},
		{[]string{"snapshot", "status", "reviewer"}, "more.md: added here", true},
		{[]string{"snapshot", "publish", "reviewer"}, "more.md added", true},
		{[]string{"snapshot", "publish", "reviewer", "--yes"}, "permission denied", false},
		{[]string{"snapshot", "pull", "tester"}, "permission denied", false},
		{[]string{"snapshot", "setup"}, "missing", true},
		{[]string{"snapshot", "setup", "--write"}, "permission denied", false},
	} {
		cmd := exec.Command(readable(t, binary), c.args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = p.project, p.env, as
		out, err := cmd.CombinedOutput()
		if (err == nil) != c.works || !strings.Contains(string(out), c.says) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
	writable()
	if after := snapshotOf(t, p.project); after != before {
		t.Errorf("it changed:\n%s\nwas:\n%s", after, before)
	}
}

// TestSnapshotsInWorktrees: every worktree has the snapshot of its checkout, also with a
// detached head; the agent's memory is one. An older checkout is no news, and a publish goes
// to the worktree in which it was made.
func TestSnapshotsInWorktrees(t *testing.T) {
	p, git := newTeamPlace(t)
	p.write(t, "project/.claude/agent-memory/reviewer/more.md", "---\nname: more\ndescription: More\ntype: project\n---\n\nMore.\n")
	p.write(t, "project/.claude/agent-memory/reviewer/MEMORY.md", "- [style](style.md) — how we write\n- [more](more.md) — more\n")
	must := func(dir string, args ...string) string {
		t.Helper()
		out, err := p.mem(dir, args...)
		if err != nil {
			t.Fatalf("%v: %s", args, out)
		}
		return out
	}
	must(p.project, "snapshot", "publish", "reviewer", "--yes")
	git(p.project, "add", "-A")
	git(p.project, "commit", "-qm", "more")
	branch, old := filepath.Join(p.root, "branch"), filepath.Join(p.root, "old")
	git(p.project, "worktree", "add", "-q", "-b", "side", branch)
	git(p.project, "worktree", "add", "-q", "--detach", old, "HEAD~1")
	if out := must(branch, "snapshot", "status", "reviewer"); !strings.Contains(out, "in sync, 2 topics") {
		t.Errorf("a worktree of the same commit: %s", out)
	}
	if out := must(old, "snapshot", "status", "reviewer"); !strings.Contains(out, "local-ahead") || strings.Contains(out, "by the team") {
		t.Errorf("an older commit: %s", out)
	}
	p.write(t, "project/.claude/agent-memory/reviewer/side.md", "---\nname: side\ndescription: Side\ntype: project\n---\n\nSide.\n")
	must(branch, "snapshot", "publish", "reviewer", "--yes")
	if _, err := os.Stat(filepath.Join(branch, ".claude", "agent-memory-snapshots", "reviewer", "side.md")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.project, ".claude", "agent-memory-snapshots", "reviewer", "side.md")); err == nil {
		t.Error("a publish in one worktree wrote into another one's checkout")
	}
	git(branch, "add", "-A")
	git(branch, "commit", "-qm", "side")
	git(p.project, "merge", "-q", "side")
	if out := must(p.project, "snapshot", "status", "reviewer"); !strings.Contains(out, "in sync, 3 topics") {
		t.Errorf("after the merge: %s", out)
	}
	if out := git(p.project, "status", "--porcelain"); out != "" {
		t.Errorf("git sees %s", out)
	}
}
