package project

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// gitIndex encodes an index with the given entries.
func gitIndex(t testing.TB, names ...string) string {
	t.Helper()
	idx := &index.Index{Version: 2}
	for _, n := range names {
		idx.Entries = append(idx.Entries, &index.Entry{Name: n, Mode: filemode.Regular})
	}
	var b bytes.Buffer
	if err := index.NewEncoder(&b).Encode(idx); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTracked(t *testing.T) {
	const local = ".claude/settings.local.json"
	repo := func(dir string, tracked ...string) map[string]string {
		return merged(gitDirAt(dir+"/.git"), map[string]string{dir + "/.git/index": gitIndex(t, tracked...)})
	}
	file := map[string]string{"p/" + local: "{}"}
	for _, tc := range []struct {
		name  string
		files map[string]string
		dir   string // of the project; "p" when empty
		want  bool
		err   string
	}{
		{name: "no git", files: file},
		{name: "nothing was ever added", files: merged(gitDirAt("p/.git"), file)},
		{name: "not tracked", files: merged(repo("p", ".claude/settings.json", "README.md"), file)},
		{name: "tracked", files: merged(repo("p", "README.md", local), file), want: true},
		{name: "tracked under another letter case", files: merged(repo("p", ".Claude/Settings.local.json"), file), want: true},
		{name: "the folder is a tracked symlink or a submodule", files: merged(repo("p", ".claude"), file), want: true},
		{name: "a symlink to a tracked file of the project", want: true,
			files: merged(repo("p", "conf.json"), map[string]string{"p/conf.json": "{}", "p/" + local: "-> ../conf.json"})},
		{name: "a symlink to a file that is not tracked",
			files: merged(repo("p", "other"), map[string]string{"p/conf.json": "{}", "p/" + local: "-> ../conf.json"})},
		{name: "a symlink into a repository of the user's elsewhere",
			files: merged(repo("p"), repo("dotfiles", "l.json"), map[string]string{"dotfiles/l.json": "{}", "p/" + local: "-> ../../dotfiles/l.json"})},
		{name: "the folder is a repository of its own that tracks it", want: true,
			files: merged(repo("p"), repo("p/.claude", "settings.local.json"), file)},
		{name: "the same below a project without git", want: true,
			files: merged(repo("p/.claude", "settings.local.json"), file)},
		{name: "tracked in a linked worktree", dir: "w", want: true,
			files: merged(gitDirAt("p/.git"), worktreeOf("p/.git", "w", "w"), map[string]string{
				"w/" + local: "{}", "p/.git/worktrees/w/index": gitIndex(t, local)})},
		{name: "tracked in the main checkout only", dir: "w",
			files: merged(repo("p", local), worktreeOf("p/.git", "w", "w"), map[string]string{
				"w/" + local: "{}", "p/.git/worktrees/w/index": gitIndex(t, "x")})},
		{name: "index is garbage", files: merged(repo("p"), file, map[string]string{"p/.git/index": "garbage"}), err: "index"},
		{name: "index is cut short", files: merged(repo("p"), file, map[string]string{"p/.git/index": gitIndex(t, "a", local)[:90]}), err: "index"},
		{name: "index is a directory", files: merged(gitDirAt("p/.git"), file, map[string]string{"p/.git/index/": ""}), err: "regular file"},
		{name: "damaged .git", files: merged(file, map[string]string{"p/.git": "garbage"}), err: "cannot be used"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := tree(t, tc.files)
			dir := tc.dir
			if dir == "" {
				dir = "p"
			}
			p, err := Find(filepath.Join(base, dir), Options{})
			must(t, err)
			got, err := Tracked(p, filepath.Join(p.Dir, filepath.FromSlash(local)))
			if got != tc.want {
				t.Errorf("Tracked = %t, want %t", got, tc.want)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error = %v, want %q in it", err, tc.err)
			}
		})
	}
}

func TestTrackedRefusesAHugeIndex(t *testing.T) {
	base := tree(t, merged(gitDirAt("p/.git"), map[string]string{"p/f": "", "p/.git/index": "DIRC"}))
	must(t, os.Truncate(filepath.Join(base, "p/.git/index"), MaxIndex+1))
	p, err := Find(filepath.Join(base, "p"), Options{})
	must(t, err)
	if _, err := Tracked(p, filepath.Join(base, "p/f")); err == nil {
		t.Error("an index above MaxIndex was read")
	}
}

func FuzzIndexNames(f *testing.F) {
	f.Add([]byte(gitIndex(f, "a", "b/c", ".claude/settings.local.json")))
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, n := range []int{20, 32} {
			if len(data) > 12+n { // past the checksum, which chance never meets
				data = append(data[:len(data)-n:len(data)-n], make([]byte, n)...)
			}
			if names, err := indexNames(data, n); err == nil && len(names) > len(data) {
				t.Errorf("%d names from %d bytes", len(names), len(data))
			}
		}
	})
}
