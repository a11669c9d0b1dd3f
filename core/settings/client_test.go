package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"mem/core/project"
)

// scene is a home, a project in a git repository, and an environment.
type scene struct {
	t   *testing.T
	dir string
	env Env
}

// newScene writes files below a new directory: "home/…" is the home
// directory, "p/…" the project, "managed.json" the policy file.
func newScene(t *testing.T, vars map[string]string, files map[string]string) scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scene{t: t, dir: dir, env: Env{
		Lookup:          func(k string) (string, bool) { v, ok := vars[k]; return v, ok },
		Home:            filepath.Join(dir, "home"),
		Cwd:             filepath.Join(dir, "p"),
		ConfigDir:       filepath.Join(dir, "config"),
		ManagedSettings: filepath.Join(dir, "managed.json"),
	}}
	s.write("p/.git/HEAD", "ref: refs/heads/main\n")
	for _, d := range []string{"home", "p/.git/objects", "p/.git/refs"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		s.write(name, content)
	}
	return s
}

func (s scene) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// track makes git track the named files of the project.
func (s scene) track(names ...string) {
	s.t.Helper()
	idx := &index.Index{Version: 2}
	for _, n := range names {
		idx.Entries = append(idx.Entries, &index.Entry{Name: n, Mode: filemode.Regular})
	}
	var b bytes.Buffer
	if err := index.NewEncoder(&b).Encode(idx); err != nil {
		s.t.Fatal(err)
	}
	s.write("p/.git/index", b.String())
}

func (s scene) client() Client {
	s.t.Helper()
	p, err := project.Find(s.env.Cwd, s.env.ProjectOptions())
	if err != nil {
		s.t.Fatal(err)
	}
	return LoadClient(s.env, p)
}

// The settings files that a scene can have.
const (
	policyFile  = "managed.json"
	userFile    = "home/.claude/settings.json"
	projectFile = "p/.claude/settings.json"
	localFile   = "p/.claude/settings.local.json"
)

type (
	vars  = map[string]string
	files = map[string]string
)

func TestPrecedenceAndTrust(t *testing.T) {
	set := func(v string) string { return `{"autoMemoryDirectory": "` + v + `"}` }
	s := newScene(t, nil, files{policyFile: set("/policy"), userFile: set("/user"), projectFile: set("/project"), localFile: set("/local")})
	show := func() string {
		var b strings.Builder
		for _, v := range s.client().Values(KeyDirectory) {
			text, err := v.Text()
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(text)
			if !v.Source.Trusted {
				b.WriteString("?")
			}
			b.WriteString(" ")
		}
		return b.String()
	}
	if got, want := show(), "/policy /local /project? /user "; got != want {
		t.Errorf("values = %s, want %s", got, want)
	}
	s.track(".claude/settings.local.json")
	if got, want := show(), "/policy /local? /project? /user "; got != want {
		t.Errorf("with a tracked local file: %s, want %s", got, want)
	}
	s.write("p/.git/index", "garbage")
	if got, want := show(), "/policy /local? /project? /user "; got != want {
		t.Errorf("with an unreadable index: %s, want %s", got, want)
	}
	for _, src := range s.client().Sources {
		if !src.Trusted && src.Reason == "" {
			t.Errorf("%s is not trusted without a reason", src.Label())
		}
	}
}

// TestLocalSettingsOfAnArchive: a folder without git, as an archive of a repository leaves it,
// has nothing that tells the user's local settings from those that came with it. They can
// switch memory off, and no more.
func TestLocalSettingsOfAnArchive(t *testing.T) {
	s := newScene(t, vars{"XDG_CONFIG_HOME": "/theirs", "SOME_KEY": "sk-theirs"}, files{localFile: `{"autoMemoryDirectory": "/theirs", "autoMemoryEnabled": false, "env": {"XDG_CONFIG_HOME": "/theirs", "SOME_KEY": "sk-theirs"}}`})
	if v := s.client().Planted("SOME_KEY"); v != nil {
		t.Errorf("in a repository that does not track it: %+v", v)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "p", ".git")); err != nil {
		t.Fatal(err)
	}
	c := s.client()
	for _, name := range []string{"SOME_KEY", "XDG_CONFIG_HOME"} {
		if v := c.Planted(name); v == nil {
			t.Errorf("%s of an archive counts", name)
		}
	}
	for _, v := range c.Values(KeyDirectory) {
		if v.Source.Trusted || !strings.Contains(v.Source.Reason, "without git") {
			t.Errorf("%+v", v.Source)
		}
	}
	if c.MemorySwitch().On {
		t.Error("it can not switch memory off")
	}
}

func TestClientConfigDirMovesUserSettings(t *testing.T) {
	s := newScene(t, vars{EnvConfigDir: "../elsewhere"}, files{userFile: `{"autoMemoryEnabled": false}`, "elsewhere/settings.json": `{"autoMemoryEnabled": true}`})
	c := s.client()
	if len(c.Sources) != 1 || c.Sources[0].Path != filepath.Join(s.dir, "elsewhere/settings.json") {
		t.Errorf("Sources = %+v", c.Sources)
	}
}

func TestHomeAsProjectKeepsUserSettingsTrusted(t *testing.T) {
	s := newScene(t, nil, files{userFile: `{"autoMemoryDirectory": "/user"}`})
	s.env.Cwd = s.env.Home
	c := s.client()
	if len(c.Sources) != 1 || c.Sources[0].Scope != ScopeUser || !c.Sources[0].Trusted {
		t.Errorf("Sources = %+v", c.Sources)
	}
}

func TestSubdirectoryReadsBothFolders(t *testing.T) {
	s := newScene(t, nil, files{
		"p/sub/.claude/settings.local.json": `{"autoMemoryDirectory": "/near"}`,
		localFile:                           `{"autoMemoryDirectory": "/top"}`})
	s.env.Cwd = filepath.Join(s.dir, "p/sub")
	vs := s.client().Values(KeyDirectory)
	if len(vs) != 2 {
		t.Fatalf("%d values", len(vs))
	}
	if first, _ := vs[0].Text(); first != "/near" {
		t.Errorf("first value is %s", first)
	}
}

func TestBadSettingsFilesAreReportedAndIgnored(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"not JSON", "{\n  \"a\": 1,\n}", "is not JSON: line 3"},
		{"comments", "// hi\n{}", "is not JSON: line 1"},
		{"a list", "[1, 2]", "not a JSON object"},
		{"a string", `"x"`, "not a JSON object"},
		{"null", "null", "null"},
		{"two values", "{} {}", "is not JSON"},
		{"cut short", `{"autoMemoryEnabled": fal`, "is not JSON"},
		{"too large", `{"x": "` + strings.Repeat("x", MaxClientFile) + `"}`, "larger than"},
		{"wrong type", `{"autoMemoryEnabled": "no"}`, `autoMemoryEnabled: is "no", not true or false`},
		{"null key", `{"autoMemoryEnabled": null}`, "is null"},
		{"directory is a number", `{"autoMemoryDirectory": 7}`, "is 7, not a string"},
		{"env is a list", `{"env": ["A=1"]}`, "env: is"},
		{"env holds an object", `{"env": {"A": {}}}`, "A is {}"},
		{"deep nesting", strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), "is not JSON"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t, nil, files{userFile: tc.content, localFile: `{"autoMemoryEnabled": false}`})
			c := s.client()
			if len(c.Problems) != 1 {
				t.Fatalf("Problems = %v", c.Problems)
			}
			msg := c.Problems[0].Error()
			for _, part := range []string{filepath.Join(s.dir, userFile), tc.want, "ignored: "} {
				if !strings.Contains(msg, part) {
					t.Errorf("%q lacks %q", msg, part)
				}
			}
			if c.MemorySwitch().On {
				t.Error("the other file was ignored too")
			}
		})
	}
}

func TestTolerated(t *testing.T) {
	for _, content := range []string{"", "\n", "\xef\xbb\xbf{}", "\xef\xbb\xbf", `{"unknown": {"deep": [1]}}`} {
		s := newScene(t, nil, files{userFile: content})
		if c := s.client(); len(c.Problems) != 0 {
			t.Errorf("%q: %v", content, c.Problems[0])
		}
	}
	s := newScene(t, nil, files{userFile: "\xef\xbb\xbf" + `{"autoMemoryEnabled": true, "autoMemoryEnabled": false}`})
	if s.client().MemorySwitch().On {
		t.Error("of a repeated key the last one must hold, also behind a byte order mark")
	}
}

func TestUnreadableSettings(t *testing.T) {
	s := newScene(t, nil, nil)
	if err := os.MkdirAll(filepath.Join(s.dir, userFile), 0o755); err != nil {
		t.Fatal(err)
	}
	c := s.client()
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Error(), "not a regular file") {
		t.Errorf("Problems = %v", c.Problems)
	}
}

func FuzzParseClient(f *testing.F) {
	for _, s := range []string{"", "{}", `{"env": {"A": 1, "B": true, "C": null}}`, `{"autoMemoryDirectory": "~/x"}`, "\xef\xbb\xbf{}", "null", "[", `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := parseClient(data)
		if err != nil {
			return
		}
		for k, raw := range keys {
			v := Value{raw: raw}
			_, textErr := v.Text()
			_, boolErr := v.Bool()
			if textErr == nil && boolErr == nil {
				t.Errorf("%s = %s is a string and a boolean", k, raw)
			}
			if env, err := parseEnv(raw); err == nil && env == nil {
				t.Errorf("parseEnv(%s) is nil without an error", raw)
			}
		}
	})
}
