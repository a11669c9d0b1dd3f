package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights, whom modes bind even when the tests run as root.
const nobody = 65534

// TestModes runs commands on directories and files that may not be read or written:
// each names the path and what to look at, and leaves everything as it was.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		name string
		path string // whose mode is taken away, below the place
		mode os.FileMode
		args []string
		says []string
	}{
		{"unreadable directory", "memory", 0, []string{"list"}, []string{"memory", "permission"}},
		{"unreadable directory, write", "memory", 0, []string{"write", "b", "--type", "user", "--description", "d", "--body-file", "project/body"}, []string{"memory", "permission"}},
		{"read-only directory", "memory", 0o555, []string{"write", "b", "--type", "user", "--description", "d", "--body-file", "project/body"}, []string{"memory", "permission"}},
		{"read-only directory, dream", "memory", 0o555, []string{"dream"}, []string{"memory", "permission"}},
		{"state that cannot be written, dream", "state", 0o555, []string{"dream"}, []string{"state", "permission"}},
		{"unreadable index", "memory/MEMORY.md", 0, []string{"list"}, []string{"MEMORY.md", "permission"}},
		{"unreadable topic", "memory/a.md", 0, []string{"read", "a"}, []string{"a.md", "permission"}},
		{"state that cannot be written", "state", 0o555, []string{"write", "b", "--type", "user", "--description", "d", "--body-file", "project/body"}, []string{"state", "permission"}},
		{"unreadable topic, check", "memory/a.md", 0, []string{"check"}, []string{"a.md", "permission"}},
		{"unreadable folder, check", "memory/more", 0, []string{"check"}, []string{"more", "permission"}},
		{"unreadable folder beside, check", "project", 0, []string{"check"}, []string{"project", "permission"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, "memory/more/other.md", "---\nname: other\ndescription: about another\ntype: user\n---\n\ntext\n")
			p.write(t, "memory/MEMORY.md", "- [A](a.md) — about a\n")
			p.write(t, "memory/a.md", "---\nname: a\ndescription: about a\ntype: user\n---\n\ntext\n")
			p.write(t, "project/body", "text\n")
			before := snapshotOf(t, filepath.Join(p.root, "memory"))
			as := giveTo(t, p.root)
			path := filepath.Join(p.root, c.path)
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(path, 0o755) })
			args := append(slices.Clone(c.args), "--memory-dir", filepath.Join(p.root, "memory"))
			program := binary
			if c.args[0] == "check" {
				program, args = languageServer, append(slices.Clone(c.args), p.root)
			}
			cmd := exec.Command(readable(t, program), args...)
			cmd.Dir, cmd.Env, cmd.SysProcAttr = p.root, p.env, as
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("it succeeded: %s", out)
			}
			for _, s := range c.says {
				if !strings.Contains(string(out), s) {
					t.Errorf("%q is not in: %s", s, out)
				}
			}
			if strings.Contains(string(out), "panic") || len(out) > 2000 {
				t.Errorf("%s", out)
			}
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
			if after := snapshotOf(t, filepath.Join(p.root, "memory")); after != before {
				t.Errorf("it changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
}

// giveTo makes a tree belong to a user whom modes bind, and gives how to run as that
// user. Where the tests are run by such a user, that is the one.
func giveTo(t *testing.T, root string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for dir := root; dir != filepath.Dir(dir) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(root, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// readable lets everybody run a program.
func readable(t *testing.T, program string) string {
	t.Helper()
	if err := os.Chmod(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// snapshotOf gives the names and texts below a directory.
func snapshotOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		b.WriteString(p + "\n" + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
