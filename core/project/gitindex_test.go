package project

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestIndexAsGit: names are those that git lists, whatever version of index it writes and
// whatever it calls its objects by; an index that is split or sparse is not guessed at.
func TestIndexAsGit(t *testing.T) {
	program := need.Program(t, "git")
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			base := tree(t, nil)
			top := filepath.Join(base, "p")
			git := func(args ...string) string {
				t.Helper()
				c := exec.Command(program, append([]string{"-C", top}, args...)...)
				c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "GIT_CONFIG_NOSYSTEM=1", "SystemRoot=" + os.Getenv("SystemRoot"),
					"GIT_AUTHOR_NAME=a", "GIT_COMMITTER_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_EMAIL=a@example.com"}
				out, err := c.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v %s", args, err, out)
				}
				return string(out)
			}
			must(t, os.MkdirAll(top, 0o755))
			git("init", "-q", "--object-format="+format)
			for i := range 40 {
				name := filepath.Join(top, strings.Repeat("d", i%9+1), strings.Repeat("x", i*7%23)+fmt.Sprint(i))
				must(t, os.MkdirAll(filepath.Dir(name), 0o755))
				must(t, os.WriteFile(name, []byte(name), 0o644))
			}
			git("add", "-A")
			git("commit", "-qm", "all")
			want := strings.Split(strings.TrimSuffix(git("ls-files", "-z"), "\x00"), "\x00")
			p, err := Find(top, Options{})
			must(t, err)
			for _, how := range [][]string{
				{"update-index", "--index-version=2"},
				{"update-index", "--skip-worktree", "d/0"}, // which version 2 cannot hold
				{"update-index", "--index-version=4"},
				{"-c", "index.skipHash=true", "update-index", "--force-write-index"},
			} {
				git(how...)
				data, err := ReadFile(filepath.Join(top, ".git", "index"), MaxIndex)
				must(t, err)
				n, err := ObjectName(p.CommonDir)
				must(t, err)
				if got, err := indexNames(data, n); err != nil || !slices.Equal(got, want) {
					t.Errorf("after %v: %v\n%q\n%q", how, err, got, want)
				}
				for i := range data {
					if _, err := indexNames(data[:i], n); err == nil && how[0] != "-c" {
						t.Fatalf("the first %d bytes are taken for all", i)
					}
				}
			}
			if found, err := Tracked(p, filepath.Join(top, "d", "0")); !found || err != nil {
				t.Errorf("%v %v", found, err)
			}
			if found, err := Tracked(p, filepath.Join(top, "d", "none")); found || err != nil {
				t.Errorf("%v %v", found, err)
			}
			git("update-index", "--split-index")
			if _, err := Tracked(p, filepath.Join(top, "d", "0")); err == nil || !strings.Contains(err.Error(), "elsewhere") {
				t.Errorf("a split index: %v", err)
			}
		})
	}
}
