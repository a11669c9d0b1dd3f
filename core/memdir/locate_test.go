package memdir

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/google/go-cmp/cmp"

	"mem/core/project"
	"mem/core/settings"
)

// locateScene is a home, a git project "p" and an environment; "$D" in its
// variables and files stands for the directory that holds them.
type locateScene struct {
	t    *testing.T
	dir  string
	env  settings.Env
	vars map[string]string
}

func newLocateScene(t *testing.T, files map[string]string) *locateScene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &locateScene{t: t, dir: dir, vars: map[string]string{}}
	s.env = settings.Env{
		Lookup:          func(k string) (string, bool) { v, ok := s.vars[k]; return strings.ReplaceAll(v, "$D", dir), ok },
		Home:            filepath.Join(dir, "home"),
		Cwd:             filepath.Join(dir, "p"),
		ManagedSettings: filepath.Join(dir, "managed.json"),
	}
	s.mkdir("home")
	s.repository("p")
	for name, content := range files {
		s.write(name, content)
	}
	return s
}

func (s *locateScene) mkdir(name string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Join(s.dir, name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *locateScene) write(name, content string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(name))
	content = strings.ReplaceAll(content, "$D", s.dir)
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *locateScene) repository(dir string) {
	s.write(dir+"/.git/HEAD", "ref: refs/heads/main\n")
	s.mkdir(dir + "/.git/objects")
	s.mkdir(dir + "/.git/refs")
}

// worktree makes "w" a linked worktree of "p".
func (s *locateScene) worktree() {
	s.write("w/.git", "gitdir: $D/p/.git/worktrees/w\n")
	s.write("p/.git/worktrees/w/HEAD", "ref: refs/heads/w\n")
	s.write("p/.git/worktrees/w/commondir", "../..\n")
	s.write("p/.git/worktrees/w/gitdir", "$D/w/.git\n")
}

func (s *locateScene) track(name string) {
	s.t.Helper()
	idx := &index.Index{Version: 2, Entries: []*index.Entry{{Name: name, Mode: filemode.Regular}}}
	var b bytes.Buffer
	if err := index.NewEncoder(&b).Encode(idx); err != nil {
		s.t.Fatal(err)
	}
	s.write("p/.git/index", b.String())
}

func (s *locateScene) locate(opt LocateOptions) Location {
	s.t.Helper()
	opt.MemoryDir = strings.ReplaceAll(opt.MemoryDir, "$D", s.dir)
	opt.Project = strings.ReplaceAll(opt.Project, "$D", s.dir)
	loc, err := Locate(s.env, opt)
	if err != nil {
		s.t.Fatal(err)
	}
	return loc
}

// memory is `<base>/projects/<slug of root>/memory`.
func (s *locateScene) memory(base, root string) string {
	return filepath.Join(s.dir, base, "projects", project.Slug(filepath.Join(s.dir, root)), "memory")
}

func (s *locateScene) short(text string) string {
	text = strings.ReplaceAll(text, project.Slug(filepath.Join(s.dir, "p")), "$SLUG")
	return strings.ReplaceAll(text, s.dir, "$D")
}

func TestLocateRules(t *testing.T) {
	const byDefault = "$D/home/.claude/projects/$SLUG/memory"
	directory := func(d string) string { return `{"autoMemoryDirectory": "` + d + `"}` }
	type skip = string // "rule candidate: reason part"
	for _, tc := range []struct {
		name    string
		vars    map[string]string
		files   map[string]string
		opt     LocateOptions
		tracked string
		goos    string
		want    string // "rule directory"
		skipped []skip
	}{
		{name: "default", want: "default " + byDefault},
		{name: "config dir", vars: map[string]string{"CLAUDE_CONFIG_DIR": "$D/c"}, want: "config-dir $D/c/projects/$SLUG/memory",
			skipped: []skip{"default " + byDefault + ": comes after environment variable CLAUDE_CONFIG_DIR"}},
		{name: "remote base before config dir",
			vars: map[string]string{"CLAUDE_CONFIG_DIR": "$D/c", "CLAUDE_CODE_REMOTE_MEMORY_DIR": "$D/r"}, want: "remote $D/r/projects/$SLUG/memory",
			skipped: []skip{"config-dir $D/c/projects/$SLUG/memory: comes after", "default " + byDefault + ": comes after"}},
		{name: "relative bases are taken from the working directory", vars: map[string]string{"CLAUDE_CONFIG_DIR": "c"},
			want: "config-dir $D/p/c/projects/$SLUG/memory", skipped: []skip{"default " + byDefault + ": comes after"}},

		{name: "override", vars: map[string]string{settings.EnvOverride: "$D/o/"}, want: "override $D/o",
			skipped: []skip{"default " + byDefault + ": comes after environment variable"}},
		{name: "override before settings", vars: map[string]string{settings.EnvOverride: "$D/o"}, files: map[string]string{"managed.json": directory("$D/m")},
			want: "override $D/o", skipped: []skip{"setting $D/m: comes after", "default " + byDefault + ": comes after"}},
		{name: "relative override", vars: map[string]string{settings.EnvOverride: "o"}, want: "default " + byDefault, skipped: []skip{"override o: it is relative"}},
		{name: "override with ~", vars: map[string]string{settings.EnvOverride: "~/o"}, want: "default " + byDefault, skipped: []skip{`override ~/o: "~" is not expanded`}},
		{name: "override is /", vars: map[string]string{settings.EnvOverride: "//"}, want: "default " + byDefault, skipped: []skip{"override //: it is the root"}},
		{name: "override from user settings' env", files: map[string]string{"home/.claude/settings.json": `{"env": {"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "$D/o"}}`},
			want: "override $D/o", skipped: []skip{"default " + byDefault + ": comes after env of user settings"}},
		{name: "override from project settings' env", files: map[string]string{"p/.claude/settings.json": `{"env": {"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "$D/evil", "CLAUDE_CODE_REMOTE_MEMORY_DIR": "$D/evil", "CLAUDE_CONFIG_DIR": "$D/evil"}}`},
			opt: LocateOptions{TrustProjectSettings: true}, want: "default " + byDefault,
			skipped: []skip{"override $D/evil: project settings come with the repository", "remote $D/evil: project settings", "config-dir $D/evil: project settings"}},
		{name: "config dir from user settings' env", files: map[string]string{"home/.claude/settings.json": `{"env": {"CLAUDE_CONFIG_DIR": "$D/c"}}`},
			want: "default " + byDefault, skipped: []skip{"config-dir $D/c: settings are found through this variable"}},

		{name: "policy, local, user", files: map[string]string{"managed.json": directory("$D/m"), "p/.claude/settings.local.json": directory("$D/l"), "home/.claude/settings.json": directory("$D/u")},
			want: "setting $D/m", skipped: []skip{"setting $D/l: comes after policy settings", "setting $D/u: comes after", "default " + byDefault + ": comes after"}},
		{name: "local before user", files: map[string]string{"p/.claude/settings.local.json": directory("$D/l"), "home/.claude/settings.json": directory("$D/u")},
			want: "setting $D/l", skipped: []skip{"setting $D/u: comes after local settings", "default " + byDefault + ": comes after"}},
		{name: "tracked local settings are refused", tracked: ".claude/settings.local.json", files: map[string]string{"p/.claude/settings.local.json": directory("$D/l")},
			want: "default " + byDefault, skipped: []skip{"setting $D/l: git tracks it"}},
		{name: "home in a setting", files: map[string]string{"home/.claude/settings.json": directory("~/notes/../mem/")}, want: "setting $D/home/mem",
			skipped: []skip{"default " + byDefault + ": comes after"}},
		{name: "relative setting", files: map[string]string{"home/.claude/settings.json": directory("mem")}, want: "default " + byDefault, skipped: []skip{"setting mem: it is relative"}},
		{name: "another user's home", files: map[string]string{"home/.claude/settings.json": directory("~root/mem")}, want: "default " + byDefault, skipped: []skip{"setting ~root/mem: it is relative"}},
		{name: "root setting", files: map[string]string{"home/.claude/settings.json": directory("/x/..")}, want: "default " + byDefault, skipped: []skip{"setting /x/..: it is the root"}},
		{name: "empty setting", files: map[string]string{"home/.claude/settings.json": directory("")}, want: "default " + byDefault, skipped: []skip{"setting : it is empty"}},
		{name: "the home directory itself", files: map[string]string{"home/.claude/settings.json": directory("~/x/..")}, want: "default " + byDefault, skipped: []skip{"setting ~/x/..: it is the home directory"}},
		{name: "a bad setting gives way to the next", files: map[string]string{"managed.json": directory("mem"), "home/.claude/settings.json": directory("$D/u")},
			want: "setting $D/u", skipped: []skip{"setting mem: it is relative", "default " + byDefault + ": comes after user settings"}},
		{name: "project settings are refused", files: map[string]string{"p/.claude/settings.json": directory("$D/evil")},
			want: "default " + byDefault, skipped: []skip{"setting $D/evil: project settings come with the repository, and a repository may not move memory; allow it with memory.trust_project_settings"}},
		{name: "unless the user trusts them", files: map[string]string{"p/.claude/settings.json": directory("$D/x"), "home/.claude/settings.json": directory("$D/u")},
			opt: LocateOptions{TrustProjectSettings: true}, want: "setting $D/x", skipped: []skip{"setting $D/u: comes after project", "default " + byDefault + ": comes after"}},

		{name: "flag before all", vars: map[string]string{settings.EnvOverride: "$D/o"}, opt: LocateOptions{MemoryDir: "$D/f"}, want: "flag $D/f",
			skipped: []skip{"override $D/o: comes after --memory-dir", "default " + byDefault + ": comes after --memory-dir"}},
		{name: "relative flag", opt: LocateOptions{MemoryDir: "../f"}, want: "flag $D/f", skipped: []skip{"default " + byDefault + ": comes after"}},
		{name: "flag below home", opt: LocateOptions{MemoryDir: "~/f"}, want: "flag $D/home/f", skipped: []skip{"default " + byDefault + ": comes after"}},

		{name: "a network path on Windows", goos: "windows", vars: map[string]string{settings.EnvOverride: `\\host\share`}, want: "default " + byDefault,
			skipped: []skip{`override \\host\share: it is a network path`}},
		{name: "no drive on Windows", goos: "windows", vars: map[string]string{settings.EnvOverride: `/mem`}, want: "default " + byDefault, skipped: []skip{"override /mem: it names no drive"}},
		{name: "a bare drive on Windows", goos: "windows", vars: map[string]string{settings.EnvOverride: `c:\`}, want: "default " + byDefault, skipped: []skip{`override c:\: it is the root`}},
		{name: "a drive on Windows", goos: "windows", vars: map[string]string{settings.EnvOverride: `c:\mem`}, want: `override c:\mem`, skipped: []skip{"default " + byDefault + ": comes after"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newLocateScene(t, tc.files)
			s.vars, s.env.GOOS = tc.vars, tc.goos
			if tc.tracked != "" {
				s.track(tc.tracked)
			}
			loc := s.locate(tc.opt)
			if got := s.short(string(loc.Rule) + " " + loc.Directory); got != tc.want {
				t.Errorf("Locate = %s, want %s", got, tc.want)
			}
			if loc.Source == "" || loc.Why == "" || loc.Exists {
				t.Errorf("Location = %+v", loc)
			}
			got := []string{}
			for i, k := range loc.Skipped {
				line := s.short(string(k.Rule) + " " + k.Candidate + ": " + k.Reason)
				if i < len(tc.skipped) && strings.HasPrefix(line, tc.skipped[i]) && k.Source != "" {
					line = tc.skipped[i]
				}
				got = append(got, line)
			}
			if d := cmp.Diff(append([]string{}, tc.skipped...), got); d != "" {
				t.Errorf("skipped (-want +got):\n%s", d)
			}
		})
	}
}

func TestLocateSharesMemoryAmongWorktrees(t *testing.T) {
	s := newLocateScene(t, nil)
	s.worktree()
	s.mkdir("w/sub")
	s.mkdir("p/sub")
	for _, dir := range []string{"$D/p", "$D/p/sub", "$D/w", "$D/w/sub"} {
		loc := s.locate(LocateOptions{Project: dir})
		if want := s.memory("home/.claude", "p"); loc.Directory != want || len(loc.Warnings) != 0 {
			t.Errorf("%s: %s, warnings %q, want %s", dir, loc.Directory, loc.Warnings, want)
		}
	}
	if err := os.MkdirAll(s.memory("home/.claude", "w/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	loc := s.locate(LocateOptions{Project: "$D/w/sub"})
	if len(loc.Warnings) != 1 || !strings.Contains(loc.Warnings[0], s.memory("home/.claude", "w/sub")) {
		t.Errorf("a split store is not reported: %q", loc.Warnings)
	}
}

func TestLocateProjectOrder(t *testing.T) {
	s := newLocateScene(t, nil)
	for _, d := range []string{"flag", "var", "root"} {
		s.mkdir(d)
	}
	roots := []string{filepath.Join(s.dir, "root")}
	for _, tc := range []struct {
		name, variable string
		opt            LocateOptions
		want           string
		warnings       int
	}{
		{"flag", "$D/var", LocateOptions{Project: "$D/flag", Roots: roots}, "flag", 0},
		{"variable", "$D/var", LocateOptions{Roots: roots}, "var", 0},
		{"root of the client", "", LocateOptions{Roots: roots}, "root", 0},
		{"a variable that names nothing", "$D/gone", LocateOptions{Roots: roots}, "root", 1},
		{"nothing usable but the working directory", "$D/gone", LocateOptions{Roots: []string{filepath.Join(s.dir, "gone")}}, "p", 2},
	} {
		s.vars["CLAUDE_PROJECT_DIR"] = tc.variable
		loc := s.locate(tc.opt)
		if loc.Project.Dir != filepath.Join(s.dir, tc.want) || len(loc.Warnings) != tc.warnings {
			t.Errorf("%s: project %s, warnings %q", tc.name, loc.Project.Dir, loc.Warnings)
		}
	}
}

func TestLocateRefuses(t *testing.T) {
	s := newLocateScene(t, map[string]string{"file": "x"})
	for _, tc := range []struct {
		name string
		env  func(*settings.Env)
		opt  LocateOptions
		want string
	}{
		{"missing project", nil, LocateOptions{Project: filepath.Join(s.dir, "gone")}, "name an existing directory with --project"},
		{"project is a file", nil, LocateOptions{Project: filepath.Join(s.dir, "file")}, "not a directory"},
		{"memory dir is /", nil, LocateOptions{MemoryDir: "/"}, "name a directory below it"},
		{"memory dir holds NUL", nil, LocateOptions{MemoryDir: "a\x00"}, "--memory-dir"},
		{"no home", func(e *settings.Env) { e.Home = "" }, LocateOptions{}, "set HOME or CLAUDE_CONFIG_DIR, or use --memory-dir"},
		{"no working directory", func(e *settings.Env) { e.Cwd = "" }, LocateOptions{}, "--project"},
	} {
		env := s.env
		if tc.env != nil {
			tc.env(&env)
		}
		if _, err := Locate(env, tc.opt); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q in it", tc.name, err, tc.want)
		}
	}
}

func TestLocateLooksAtTheDirectory(t *testing.T) {
	s := newLocateScene(t, map[string]string{"file": "x"})
	s.mkdir("real")
	for name, target := range map[string]string{"link": "real", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		dir, real string
		exists    bool
		warning   string
	}{
		{"real", "real", true, ""},
		{"link", "real", true, ""},
		{"link/new/deep", "real/new/deep", false, ""},
		{"file", "file", false, "is not a directory"},
		{"file/below", "file/below", false, "cannot be reached"},
		{"loop", "loop", false, "cannot be reached"},
		{"home", "home", true, "is the home directory"},
	} {
		loc := s.locate(LocateOptions{MemoryDir: "$D/" + tc.dir})
		if loc.Exists != tc.exists || s.short(loc.Real) != "$D/"+tc.real || s.short(loc.Directory) != "$D/"+tc.dir {
			t.Errorf("%s: exists %t, real %s", tc.dir, loc.Exists, loc.Real)
		}
		all := strings.Join(loc.Warnings, "\n")
		if (all == "") != (tc.warning == "") || !strings.Contains(all, tc.warning) {
			t.Errorf("%s: warnings %q, want %q", tc.dir, all, tc.warning)
		}
	}
}

func TestLocateReportsSwitchesAndProblems(t *testing.T) {
	s := newLocateScene(t, map[string]string{"p/.claude/settings.json": `{"autoMemoryEnabled": false}`, "home/.claude/settings.json": "{,}"})
	s.vars["CLAUDE_CONFIG_DIR"] = ""
	loc := s.locate(LocateOptions{})
	if loc.Memory.On || loc.Dream.On || loc.Memory.Source == "" {
		t.Errorf("Memory = %+v, Dream = %+v", loc.Memory, loc.Dream)
	}
	if len(loc.Warnings) != 1 || !strings.Contains(loc.Warnings[0], "is not JSON") {
		t.Errorf("Warnings = %q", loc.Warnings)
	}
	s.env.Cwd = s.env.Home
	if loc := s.locate(LocateOptions{}); !strings.Contains(strings.Join(loc.Warnings, "\n"), "the project is the home directory") {
		t.Errorf("Warnings = %q", loc.Warnings)
	}
}

func TestLocationJSON(t *testing.T) {
	s := newLocateScene(t, nil)
	data, err := json.Marshal(s.locate(LocateOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got["directory"] != s.memory("home/.claude", "p") || got["rule"] != "default" {
		t.Errorf("JSON = %s", data)
	}
	for _, list := range []string{"skipped", "warnings"} {
		if l, ok := got[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s = %v, want an empty list", list, got[list])
		}
	}
}

func FuzzLocateDirectory(f *testing.F) {
	for _, s := range []string{"", "/", "~/", "~/..", "/a/../..", `C:\`, `C:x`, `\\h\s`, "a\x00", "/a//b/"} {
		f.Add(s, "linux")
		f.Add(s, "windows")
	}
	f.Fuzz(func(t *testing.T, given, goos string) {
		dir, refuse := settingDir(settings.Env{Home: "/home/me", GOOS: goos}, given)
		if (dir == "") == (refuse == "") {
			t.Fatalf("settingDir(%q) = %q, %q", given, dir, refuse)
		}
		if dir != "" && goos != "windows" && (!filepath.IsAbs(dir) || dir == "/" || filepath.Clean(dir) != dir) {
			t.Fatalf("settingDir(%q) = %q", given, dir)
		}
	})
}
