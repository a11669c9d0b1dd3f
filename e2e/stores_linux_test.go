package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadOnlyCheckout works with the stores of a checkout that may not be written:
// all that reads succeeds, and what writes says why it cannot and changes nothing.
func TestReadOnlyCheckout(t *testing.T) {
	p := newPlace(t)
	p.write(t, "project/.git/HEAD", "0123456789012345678901234567890123456789\n") // a detached head
	p.write(t, "project/.git/objects/x", "")
	p.write(t, "project/.git/refs/x", "")
	p.write(t, "project/.claude/agents/reviewer.md", "---\nname: reviewer\nmemory: project\n---\n")
	p.write(t, "project/.claude/agent-memory/reviewer/MEMORY.md", "- [style](style.md) — how we write\n")
	p.write(t, "project/.claude/agent-memory/reviewer/style.md", "---\nname: style\ndescription: How we write\ntype: project\n---\n\nShort.\n")
	p.write(t, "project/api/.claude/agent-memory/reviewer/more.md", "---\nname: more\ndescription: More of it\ntype: project\n---\n\nLong.\n")
	p.write(t, "body", "text\n")
	before := snapshotOf(t, p.project)
	as := giveTo(t, p.root)
	writable := readOnly(t, p.project)
	run := func(args ...string) (string, error) {
		cmd := exec.Command(readable(t, binary), args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = p.project, p.env, as
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const store = "agent/reviewer/project"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"stores"}, "mem-mcp stores merge"},
		{[]string{"list", "--store", store}, "style.md"},
		{[]string{"read", "style", "--store", store}, "Short."},
		{[]string{"search", "write", "--store", store}, "style.md"},
		{[]string{"search", "write", "--stores", "all"}, store},
		{[]string{"context", "--store", store}, "how we write"},
		{[]string{"history", "--store", store}, ""},
	} {
		if out, err := run(c.args...); err != nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
	}
	for _, args := range [][]string{
		{"write", "b", "--type", "user", "--description", "d", "--body-file", filepath.Join(p.root, "body"), "--store", store},
		{"write", "b", "--type", "user", "--description", "d", "--body-file", filepath.Join(p.root, "body"), "--store", "agent/reviewer/local"},
		{"delete", "style", "--store", store},
		{"stores", "merge", filepath.Join(p.project, "api", ".claude", "agent-memory", "reviewer")},
	} {
		out, err := run(args...)
		if err == nil || !strings.Contains(out, "permission") || !strings.Contains(out, ".claude") || strings.Contains(out, "panic") {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	writable()
	if after := snapshotOf(t, p.project); after != before {
		t.Errorf("it changed:\n%s\nwas:\n%s", after, before)
	}
}

// readOnly takes the right to write from the folders of a tree, until writable is called
// or the test is over.
func readOnly(t *testing.T, root string) (writable func()) {
	t.Helper()
	var folders []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mode := func(m os.FileMode) {
		for _, f := range folders {
			if err := os.Chmod(f, m); err != nil {
				t.Error(err)
			}
		}
	}
	mode(0o555)
	writable = func() { mode(0o755) }
	t.Cleanup(writable)
	return writable
}
