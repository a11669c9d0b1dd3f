package memdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/project"
	"mem/core/settings"
	"mem/internal/need"
)

func TestParseStore(t *testing.T) {
	for given, want := range map[string]string{
		"": "auto", "auto": "auto",
		"agent/reviewer/project":      "agent/reviewer/project",
		"agent/my.reviewer/user":      "agent/my-reviewer/user",
		"agent/plugin:reviewer/local": "agent/plugin-reviewer/local",
		"agent/检查/project":            "agent/检查/project",
		"agent/Two Words/user":        "agent/Two Words/user",
		"extra/handbook":              "extra/handbook",
	} {
		n, err := ParseStore(given)
		if err != nil || n.String() != want {
			t.Errorf("ParseStore(%q) = %q, %v, want %q", given, n, err, want)
		}
	}
	for _, bad := range []string{
		"team", "Auto", "agent", "agent/", "agent/x", "agent//user", "agent/x/", "agent/x/team", "agent/x/user/more", "agent/x/User",
		"agent/../user", "agent/./user", "agent/a..b/user", "agent/.hidden/user", "agent/a\\b/user", "agent/~x/user", "agent/x.md/user",
		"agent/con/user", "agent/NUL/local", "agent/com1/user", "agent/con.x/user", "agent/a*b/user", "agent/a|b/user", "agent/trailing /user",
		"agent/a\x00b/user", "agent/a\nb/user", "agent/a\u202eb/user", "agent/%2e%2e/user", "agent/a%2fb/user", "agent/\xff/user",
		"agent/" + strings.Repeat("x", 101) + "/user", "agent/ /user", "agent/PROGRA~1/user", "extra/", "extra", "extra/a/b", "/etc/passwd", "agent/C:/user/x",
	} {
		if n, err := ParseStore(bad); err == nil {
			t.Errorf("ParseStore(%q) = %v, want an error", bad, n)
		} else if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == '\u202e' }) {
			t.Errorf("the error of %q has control characters: %q", bad, err)
		}
	}
}

func FuzzParseStore(f *testing.F) {
	for _, s := range []string{"agent/x/user", "agent/a.b/local", "agent/../project", "extra/a", "agent/con/user"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseStore(s)
		if err != nil || n.Agent == "" {
			return
		}
		base := filepath.Join(string(filepath.Separator), "base", ".claude")
		dir := n.Below(base)
		if rel, err := filepath.Rel(base, dir); err != nil || strings.Count(filepath.ToSlash(rel), "/") != 1 || strings.HasPrefix(rel, "..") {
			t.Errorf("%q leads to %s", s, dir)
		}
		if again, err := ParseStore(n.String()); err != nil || again != n {
			t.Errorf("%q is %v, and again %v, %v", s, n, again, err)
		}
		if p := PlaceOf(dir); p != PlaceAgent && p != PlaceLocal {
			t.Errorf("%s is no agent's place", dir)
		}
	})
}

// place is a home and a project.
func storePlace(t *testing.T, vars map[string]string) (env settings.Env, base string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	base = filepath.Join(root, "project")
	for _, d := range []string{base, filepath.Join(root, "home")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return settings.Env{Lookup: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }, Home: filepath.Join(root, "home"), Cwd: base,
		ConfigDir: filepath.Join(root, "config"), ManagedSettings: filepath.Join(root, "none.json")}, base
}

func TestLocateStore(t *testing.T) {
	env, base := storePlace(t, nil)
	for store, want := range map[string]string{
		"agent/x/project": filepath.Join(base, ".claude", "agent-memory", "x"),
		"agent/x/local":   filepath.Join(base, ".claude", "agent-memory-local", "x"),
		"agent/x/user":    filepath.Join(env.Home, ".claude", "agent-memory", "x"),
	} {
		l, err := Locate(env, LocateOptions{Store: store})
		if err != nil || l.Directory != want || l.Rule != RuleStore || l.Exists || l.Store.String() != store {
			t.Errorf("%s: %+v, %v", store, l, err)
		}
		if inCheckout := !strings.HasSuffix(store, "user"); inCheckout != (l.Within == base) {
			t.Errorf("%s: within %q", store, l.Within)
		}
	}
	if _, err := Locate(env, LocateOptions{Store: "agent/x/user", MemoryDir: base}); err == nil {
		t.Error("--memory-dir and --store together are taken")
	}
	l, err := Locate(env, LocateOptions{Store: "extra/handbook", Extra: map[string]string{"handbook": "~/hb"}})
	if err != nil || l.Directory != filepath.Join(env.Home, "hb") || !l.ReadOnly || l.Rule != RuleExtra {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := Locate(env, LocateOptions{Store: "extra/other", Extra: map[string]string{"handbook": "~/hb"}}); err == nil || !strings.Contains(err.Error(), "config.yaml") {
		t.Errorf("a folder that nobody named: %v", err)
	}
	env.Home = ""
	if _, err := Locate(env, LocateOptions{Store: "agent/x/user"}); err == nil || !strings.Contains(err.Error(), "CLAUDE_CONFIG_DIR") {
		t.Errorf("without a home: %v", err)
	}
	env, _ = storePlace(t, map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(base, "conf")})
	if l, err := Locate(env, LocateOptions{Store: "agent/x/user"}); err != nil || l.Directory != filepath.Join(base, "conf", "agent-memory", "x") {
		t.Errorf("with CLAUDE_CONFIG_DIR: %s, %v", l.Directory, err)
	}
}

// TestStoreLinks: what a checkout links may not lead to other places.
func TestStoreLinks(t *testing.T) {
	const store = "agent/x/project"
	for name, tt := range map[string]struct {
		link, to string // below the project; "~" is the home
		ok       bool
	}{
		"the client's folder, out":    {".claude", "~/.claude", false},
		"all agents, out":             {".claude/agent-memory", "~/notes", false},
		"the agent, out":              {".claude/agent-memory/x", "~/notes", false},
		"the agent, to a like place":  {".claude/agent-memory/x", "~/.claude/agent-memory/x", false},
		"the agent, to commands":      {".claude/agent-memory/x", ".claude/commands", false},
		"the agent, to sources":       {".claude/agent-memory/x", "docs", false},
		"the agent, to a shared one":  {".claude/agent-memory/x", "lib/.claude/agent-memory/x", true},
		"the agent, to another one":   {".claude/agent-memory/x", ".claude/agent-memory/y", true},
		"the agent, to itself":        {".claude/agent-memory/x", ".claude/agent-memory/x", false},
		"all agents, to shared ones":  {".claude/agent-memory", "lib/.claude/agent-memory", true},
		"the agent, to git's folder":  {".claude/agent-memory/x", ".git", false},
		"the agent, leading nowhere":  {".claude/agent-memory/x", "lib/.claude/agent-memory/gone!", false},
		"the client's folder, inside": {".claude", "lib/.claude", true},
	} {
		t.Run(name, func(t *testing.T) {
			env, base := storePlace(t, nil)
			to := filepath.Join(base, filepath.FromSlash(tt.to))
			if rest, ok := strings.CutPrefix(tt.to, "~/"); ok {
				to = filepath.Join(env.Home, filepath.FromSlash(rest))
			}
			link := filepath.Join(base, filepath.FromSlash(tt.link))
			if to != link && !strings.HasSuffix(tt.to, "!") {
				if err := os.MkdirAll(to, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			need.Link(t, to, link)
			l, err := Locate(env, LocateOptions{Store: store})
			if (err == nil) != tt.ok {
				t.Errorf("%s, %v", l.Directory, err)
			}
			if err != nil && !strings.Contains(err.Error(), link) {
				t.Errorf("the error does not name %s: %v", link, err)
			}
		})
	}
}

func TestStoreBase(t *testing.T) {
	for _, tt := range []struct {
		p    project.Project
		want string
	}{
		{project.Project{Root: "/p", Dir: "/p/sub"}, "/p"},
		{project.Project{Root: "/p", Worktree: "/w", GitDir: "/p/.git/worktrees/w", CommonDir: "/p/.git"}, "/p"},
		{project.Project{Root: "/b.git", Worktree: "/w", GitDir: "/b.git/worktrees/w", CommonDir: "/b.git"}, "/w"},
		{project.Project{Root: "/b.git", CommonDir: "/b.git", GitDir: "/b.git"}, ""},
	} {
		if got, err := StoreBase(tt.p); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("StoreBase(%+v) = %q, %v", tt.p, got, err)
		}
	}
}

func TestExtraFoldersOfWindows(t *testing.T) {
	for given, want := range map[string]string{
		`C:\team\handbook`: `C:\team\handbook`, `~\handbook`: "home", "~/handbook": "home",
		`\\server\share`: "", `//server/share`: "", `handbook`: "", `C:\`: "", `\team`: "",
	} {
		dir, refuse := settingDir(settings.Env{Home: `C:\Users\me`, GOOS: "windows"}, given)
		switch {
		case want == "" && refuse == "", want != "" && refuse != "", want != "" && want != "home" && dir != want:
			t.Errorf("%s: %q, %q", given, dir, refuse)
		case want == "home" && !strings.HasSuffix(dir, "handbook"):
			t.Errorf("%s: %q", given, dir)
		}
	}
}
