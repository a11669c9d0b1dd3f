package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree builds a directory: names that end in "/" are folders, values that
// start with "-> " are symlinks, and "$R" stands for the directory itself. It
// returns the directory with its symlinks resolved.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		content = strings.ReplaceAll(content, "$R", root)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case link:
			must(t, os.Symlink(filepath.FromSlash(target), path))
		default:
			must(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gitDirAt lists the files of a git directory, as `git init` makes them.
func gitDirAt(dir string) map[string]string {
	return map[string]string{
		dir + "/HEAD":     "ref: refs/heads/main\n",
		dir + "/objects/": "",
		dir + "/refs/":    "",
	}
}

// worktreeOf lists what `git worktree add` makes: the folder name below the
// common directory, for a checkout at top.
func worktreeOf(common, name, top string) map[string]string {
	link := common + "/worktrees/" + name
	return map[string]string{
		top + "/.git":       "gitdir: $R/" + link + "\n",
		link + "/HEAD":      "ref: refs/heads/" + name + "\n",
		link + "/commondir": "../..\n",
		link + "/gitdir":    "$R/" + top + "/.git\n",
	}
}

func merged(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, p := range parts {
		for k, v := range p {
			all[k] = v
		}
	}
	return all
}

func TestFindRoot(t *testing.T) {
	main := gitDirAt("main/.git")
	for _, tc := range []struct {
		name     string
		files    map[string]string
		dir      string
		root     string
		worktree string
		problem  string // part of Problem; "" for none
	}{
		{name: "no git: the directory itself", files: map[string]string{"a/b/": ""}, dir: "a/b", root: "a/b"},
		{name: "top", files: main, dir: "main", root: "main", worktree: "main"},
		{name: "subdirectory", files: merged(main, map[string]string{"main/x/y/": ""}), dir: "main/x/y", root: "main", worktree: "main"},
		{name: "inside .git", files: main, dir: "main/.git/objects", root: "main", worktree: "main"},
		{name: "detached HEAD", files: merged(main, map[string]string{"main/.git/HEAD": strings.Repeat("a1", 20) + "\n"}), dir: "main", root: "main", worktree: "main"},
		{name: "HEAD is a symlink to a branch that does not exist yet",
			files: map[string]string{"main/.git/HEAD": "-> refs/heads/main", "main/.git/objects/": "", "main/.git/refs/": ""},
			dir:   "main", root: "main", worktree: "main"},

		{name: "linked worktree", files: merged(main, worktreeOf("main/.git", "w", "w")), dir: "w", root: "main", worktree: "w"},
		{name: "subdirectory of a linked worktree", files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{"w/x/": ""}),
			dir: "w/x", root: "main", worktree: "w"},
		{name: "linked worktree inside the main one", files: merged(main, worktreeOf("main/.git", "w", "main/.claude/worktrees/w")),
			dir: "main/.claude/worktrees/w", root: "main", worktree: "main/.claude/worktrees/w"},
		{name: "relative links both ways",
			files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{
				"w/.git": "gitdir: ../main/.git/worktrees/w\n", "main/.git/worktrees/w/gitdir": "../../../../w/.git\n"}),
			dir: "w", root: "main", worktree: "w"},
		{name: "CRLF in the links",
			files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{
				"w/.git": "gitdir: $R/main/.git/worktrees/w\r\n", "main/.git/worktrees/w/commondir": "../..\r\n"}),
			dir: "w", root: "main", worktree: "w"},

		{name: "bare repository", files: gitDirAt("r.git"), dir: "r.git", root: "r.git"},
		{name: "inside a bare repository", files: gitDirAt("r.git"), dir: "r.git/refs", root: "r.git"},
		{name: "worktree of a bare repository", files: merged(gitDirAt("r.git"), worktreeOf("r.git", "w", "w")), dir: "w", root: "r.git", worktree: "w"},
		{name: "bare repository inside a checkout belongs to it", files: merged(main, gitDirAt("main/fixtures/r.git")),
			dir: "main/fixtures/r.git", root: "main", worktree: "main"},

		{name: "submodule is its own project",
			files: merged(main, gitDirAt("main/.git/modules/sub"), map[string]string{"main/sub/.git": "gitdir: ../.git/modules/sub\n"}),
			dir:   "main/sub", root: "main/sub", worktree: "main/sub"},
		{name: "worktree of a submodule",
			files: merged(main, gitDirAt("main/.git/modules/sub"), worktreeOf("main/.git/modules/sub", "sw", "sw"), map[string]string{
				"main/sub/.git": "gitdir: ../.git/modules/sub\n", "main/.git/modules/sub/config": "[core]\n\tbare = false\n\tworktree = ../../../sub\n"}),
			dir: "sw", root: "main/sub", worktree: "sw"},
		{name: "a git directory whose core.worktree does not point back",
			files: merged(gitDirAt("x/store"), worktreeOf("x/store", "sw", "sw"), main, map[string]string{
				"x/store/config": "[core]\n\tworktree = ../../main\n"}),
			dir: "sw", root: "x/store", worktree: "sw"},
		{name: "separate git directory", files: merged(gitDirAt("store/a"), map[string]string{"a/.git": "gitdir: ../store/a"}),
			dir: "a", root: "a", worktree: "a"},
		{name: ".git is a symlink", files: merged(gitDirAt("store/a"), map[string]string{"a/.git": "-> ../store/a", "a/x/": ""}),
			dir: "a/x", root: "a", worktree: "a"},
		{name: ".git is a symlink to nowhere", files: merged(main, map[string]string{"main/a/.git": "-> nowhere"}),
			dir: "main/a", root: "main", worktree: "main"},
		{name: ".git is a symlink to itself", files: merged(main, map[string]string{"main/a/.git": "-> .git"}),
			dir: "main/a", root: "main", worktree: "main"},
		{name: "the asked directory is a symlink into a project", files: merged(main, map[string]string{"main/x/": "", "link": "-> main/x"}),
			dir: "link", root: "main", worktree: "main"},

		{name: "empty .git folder", files: map[string]string{"a/.git/": "", "a/x/": ""}, dir: "a/x", root: "a", problem: "it has no objects"},
		{name: "HEAD is garbage", files: merged(main, map[string]string{"main/.git/HEAD": "hello"}), dir: "main", root: "main", problem: "no valid HEAD"},
		{name: ".git file is garbage", files: map[string]string{"a/.git": "hello", "a/x/": ""}, dir: "a/x", root: "a", problem: `does not start with "gitdir:"`},
		{name: ".git file names nothing", files: map[string]string{"a/.git": "gitdir: \n"}, dir: "a", root: "a", problem: "names no path"},
		{name: ".git file holds NUL", files: map[string]string{"a/.git": "gitdir: x\x00y\n"}, dir: "a", root: "a", problem: "NUL"},
		{name: ".git file is huge", files: map[string]string{"a/.git": "gitdir: " + strings.Repeat("x", maxLinkFile)}, dir: "a", root: "a", problem: "larger than"},
		{name: ".git file names a missing directory", files: map[string]string{"a/.git": "gitdir: ../gone\n"}, dir: "a", root: "a", problem: "../gone"},
		{name: ".git file names a directory that is none of git's", files: map[string]string{"a/.git": "gitdir: ../b\n", "b/": ""},
			dir: "a", root: "a", problem: "not a git directory"},
		{name: "commondir names nothing", files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{"main/.git/worktrees/w/commondir": "../../gone"}),
			dir: "w", root: "w", problem: "commondir names ../../gone"},
		{name: "commondir is empty", files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{"main/.git/worktrees/w/commondir": ""}),
			dir: "w", root: "w", problem: "names no path"},
		{name: "a checkout that claims a worktree of another one",
			files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{"evil/.git": "gitdir: $R/main/.git/worktrees/w\n"}),
			dir:   "evil", root: "evil", problem: "does not know this worktree"},
		{name: "a checkout that brings its own link to a foreign repository",
			files: merged(main, map[string]string{"evil/.git": "gitdir: fake\n", "evil/fake/HEAD": "ref: refs/heads/x\n",
				"evil/fake/commondir": "$R/main/.git\n", "evil/fake/gitdir": "$R/evil/.git\n"}),
			dir: "evil", root: "evil", problem: "is not one of the worktrees"},
		{name: "a worktree moved by hand", files: merged(main, worktreeOf("main/.git", "w", "w"), map[string]string{
			"main/.git/worktrees/w/gitdir": "$R/before/.git\n"}), dir: "w", root: "w", problem: "git worktree repair"},
		{name: "a worktree link without its gitdir file", files: merged(main, map[string]string{"w/.git": "gitdir: $R/main/.git/worktrees/w\n",
			"main/.git/worktrees/w/HEAD": "ref: refs/heads/w\n", "main/.git/worktrees/w/commondir": "../..\n"}),
			dir: "w", root: "w", problem: "reading"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := tree(t, tc.files)
			p, err := Find(filepath.Join(base, tc.dir), Options{})
			must(t, err)
			under := func(name string) string {
				if name == "" {
					return ""
				}
				return filepath.Join(base, name)
			}
			got := []string{p.Root, p.Worktree}
			want := []string{under(tc.root), under(tc.worktree)}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("root and worktree (-want +got):\n%s%s", d, p.Problem)
			}
			if tc.problem == "" && p.Problem != "" || !strings.Contains(p.Problem, tc.problem) {
				t.Errorf("Problem = %q, want %q in it", p.Problem, tc.problem)
			}
			if p.Problem != "" && (p.GitDir != "" || len(p.Warnings) == 0) {
				t.Errorf("a damaged .git was followed to %q, or not reported: %q", p.GitDir, p.Warnings)
			}
			if p.Why == "" {
				t.Error("Why is empty")
			}
		})
	}
}

func TestFindWarns(t *testing.T) {
	base := tree(t, merged(gitDirAt("home/.git"), map[string]string{"home/notes/": "", "home/proj/": "", "link": "-> home"}))
	p, err := Find(filepath.Join(base, "home/notes"), Options{Home: filepath.Join(base, "link")})
	must(t, err)
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "home directory") {
		t.Errorf("a repository in the home directory: Warnings = %q", p.Warnings)
	}
	p, err = Find("/", Options{})
	must(t, err)
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "root of the file system") {
		t.Errorf("the root directory: Warnings = %q", p.Warnings)
	}
}

func TestFindRefuses(t *testing.T) {
	base := tree(t, map[string]string{"file": "x", "loop": "-> loop"})
	for _, tc := range []struct{ dir, want string }{
		{"", "the working directory is unknown"},
		{"relative", "give an absolute path"},
		{"~/x", "set HOME"},
		{"a\x00b", "NUL"},
		{filepath.Join(base, "gone"), "name an existing directory"},
		{filepath.Join(base, "file"), "not a directory"},
		{filepath.Join(base, "loop"), "loop"},
	} {
		_, err := Find(tc.dir, Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Find(%q) = %v, want %q in the error", tc.dir, err, tc.want)
		}
	}
}

func TestFindResolvesNames(t *testing.T) {
	base := tree(t, map[string]string{"home/p/": "", "cwd/p/": ""})
	opt := Options{Home: filepath.Join(base, "home"), Cwd: filepath.Join(base, "cwd")}
	for asked, want := range map[string]string{"~/p": "home/p", "p": "cwd/p", "../home/p": "home/p", ".": "cwd"} {
		p, err := Find(asked, opt)
		must(t, err)
		if p.Dir != filepath.Join(base, want) || p.Asked != asked {
			t.Errorf("Find(%q).Dir = %s", asked, p.Dir)
		}
	}
}

func TestSamePath(t *testing.T) {
	for _, tc := range []struct {
		goos, a, b string
		want       bool
	}{
		{"linux", "/a/b", "/a/b/", true},
		{"linux", "/a/B", "/a/b", false},
		{"windows", `C:\work\x`, `c:\work\x`, true},
		{"windows", `C:\work\x`, `c:/work/x/`, true},
		{"windows", `C:\work\X`, `C:\work\x`, false},
		{"windows", `C:\x`, `D:\x`, false},
		{"windows", `C:\`, `c:\`, true},
		{"windows", `\\host\share`, `\\host\share`, true},
	} {
		if got := SamePath(tc.goos, tc.a, tc.b); got != tc.want {
			t.Errorf("SamePath(%s, %s, %s) = %t", tc.goos, tc.a, tc.b, got)
		}
	}
}

func TestReadFile(t *testing.T) {
	base := tree(t, map[string]string{"four": "1234", "dir/": ""})
	if data, err := ReadFile(filepath.Join(base, "four"), 4); err != nil || string(data) != "1234" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	for name, want := range map[string]string{"four": "larger than 3", "dir": "not a regular file", "gone": "no such file"} {
		if _, err := ReadFile(filepath.Join(base, name), 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadFile(%s) = %v, want %q", name, err, want)
		}
	}
}
