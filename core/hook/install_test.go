package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/settings"
)

func client(t testing.TB, name string) Client {
	t.Helper()
	c, err := ClientNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// one is a client that asks for a single event, so that the tables stay readable.
func one(t testing.TB) Client {
	c := client(t, "claude-code")
	c.Install = []string{"Stop"}
	return c
}

const block = `{
        "hooks": [
          {
            "type": "command",
            "command": "/bin/mem-mcp hook",
            "timeout": 10
          }
        ]
      }`

func TestAddAndRemove(t *testing.T) {
	c := one(t)
	cases := []struct {
		name, before, after string
		removed             string // "" is before
	}{
		{"no file", "", "{\n  \"hooks\": {\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}\n", "{}\n"},
		{"an empty object", "{}", "{\n  \"hooks\": {\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}", "{}"},
		{"other keys", "{\n  \"model\": \"x\"\n}\n", "{\n  \"model\": \"x\",\n  \"hooks\": {\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}\n", ""},
		{
			"comments and a trailing comma", "{\n  // the model\n  \"model\": \"x\", // best\n  /* end */\n}\n",
			"{\n  // the model\n  \"model\": \"x\", // best\n  /* end */\n  \"hooks\": {\n    \"Stop\": [\n      " + block + "\n    ]\n  },\n}\n",
			"",
		},
		{
			"a comment after the last value", "{\n  \"model\": \"x\" // best\n}\n",
			"{\n  \"model\": \"x\", // best\n  \"hooks\": {\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}\n", "",
		},
		{
			"on one line", `{"model": "x"}`,
			"{\"model\": \"x\",\n  \"hooks\": {\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}", "{\"model\": \"x\"\n}",
		},
		{
			"another hook of the event",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}\n    ]\n  },\n  \"z\": 1\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]},\n      " + block + "\n    ]\n  },\n  \"z\": 1\n}\n", "",
		},
		{
			"another event",
			"{\n  \"hooks\": {\n    \"PreToolUse\": [] // none\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"PreToolUse\": [], // none\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}\n", "",
		},
		{
			"hooks that are switches", "{\n  \"hooks\": {\n    \"enabled\": true\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"enabled\": true,\n    \"Stop\": [\n      " + block + "\n    ]\n  }\n}\n", "",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				for _, bom := range []string{"", byteOrderMark} {
					form := func(s string) string {
						if s == "" {
							return ""
						}
						return bom + strings.ReplaceAll(s, "\n", eol)
					}
					before, after, removed := form(tc.before), form(tc.after), form(tc.removed)
					if tc.before == "" {
						if eol+bom != "\n" {
							continue
						}
					} else if !strings.Contains(tc.before, "\n") && eol == "\r\n" {
						continue // it has no line ends to keep
					}
					if removed == "" {
						removed = before
					}
					got, err := c.Add(before, "/bin/mem-mcp hook", c.Install)
					if err != nil || got != after {
						t.Fatalf("%v\n%s", err, cmp.Diff(after, got))
					}
					again, err := c.Add(got, "/bin/mem-mcp hook", c.Install)
					if err != nil || again != got {
						t.Errorf("a second time: %v\n%s", err, cmp.Diff(got, again))
					}
					s, err := c.State(got)
					if err != nil || !slices.Equal(s.Events, c.Install) || len(s.Missing) > 0 || !slices.Equal(s.Commands, []string{"/bin/mem-mcp hook"}) {
						t.Errorf("state %+v, %v", s, err)
					}
					moved, err := c.Add(got, "/opt/mem-mcp hook", c.Install)
					if err != nil || strings.Contains(moved, "/bin/mem-mcp") || strings.Count(moved, "/opt/mem-mcp") != 1 {
						t.Errorf("elsewhere: %v\n%s", err, moved)
					}
					back, err := c.Remove(got)
					if err != nil || back != removed {
						t.Errorf("removed: %v\n%s", err, cmp.Diff(removed, back))
					}
				}
			}
		})
	}
}

func TestIndentationIsKept(t *testing.T) {
	for _, unit := range []string{"\t", "    ", "   "} {
		got, err := one(t).Add("{\n"+unit+"\"a\": 1\n}\n", "/bin/mem-mcp hook", []string{"Stop"})
		if err != nil || !strings.Contains(got, "\n"+unit+"\"hooks\": {\n"+unit+unit+"\"Stop\": [\n"+unit+unit+unit+"{") {
			t.Errorf("%q: %v\n%s", unit, err, got)
		}
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"{":                                 "cannot be parsed",
		"[]":                                "no JSON object",
		"null":                              "no JSON object",
		"{\"hooks\": []}":                   "no object",
		"{\"hooks\": {}, \"hooks\": {}}":    "2 times",
		"{\"hooks\": {\"Stop\": {}}}":       "no list",
		"{\"a\": 1} x":                      "cannot be parsed",
		"{\"a\": \xff}":                     "UTF-8",
		"{'a': 1}":                          "cannot be parsed",
		"<<<<<<< HEAD\n{}\n=======\n{}\n>>": "cannot be parsed",
	} {
		if got, err := one(t).Add(text, "/bin/mem-mcp hook", []string{"Stop"}); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, reason)
		}
	}
}

func TestOwnHooksAmongOthers(t *testing.T) {
	c := one(t)
	before := `{
  "hooks": {
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          {"type": "command", "command": "say one"}, // first
          {"type": "command", "command": "'/old place/mem-mcp' hook --client claude-code", "timeout": 99},
          {"type": "command", "command": "say two"} // second
        ]
      }
    ],
    // ours, of an earlier version
    "Notification": [{"hooks": [{"type": "command", "command": "C:/x/mem-mcp.exe hook"}]}],
    "PreCompact": [{"hooks": [{"type": "command", "command": "notmem-mcp hooks"}, {"type": "prompt", "prompt": "mem-mcp hook"}]}]
  }
}
`
	want := `{
  "hooks": {
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          {"type": "command", "command": "say one"}, // first
          {"type": "command", "command": "say two"} // second
        ]
      }
    ],
    // ours, of an earlier version
    "PreCompact": [{"hooks": [{"type": "command", "command": "notmem-mcp hooks"}, {"type": "prompt", "prompt": "mem-mcp hook"}]}]
  }
}
`
	got, err := c.Remove(before)
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	// A command that is right keeps what a person changed beside it.
	kept, err := c.Add(before, "'/old place/mem-mcp' hook --client claude-code", []string{"Stop"})
	if err != nil || !strings.Contains(kept, `"timeout": 99`) || strings.Contains(kept, "mem-mcp.exe") {
		t.Errorf("%v\n%s", err, kept)
	}
}

// A person's own command that calls mem among other things is theirs: it stays, and its
// event gets no second call.
func TestACommandThatDoesMore(t *testing.T) {
	c := client(t, "claude-code")
	before := "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mem-mcp hook && say done\"}]}\n    ]\n  }\n}\n"
	got, err := c.Add(before, "/bin/mem-mcp hook", c.Install)
	if err != nil || !strings.Contains(got, `"mem-mcp hook && say done"`) || strings.Count(got, `"/bin/mem-mcp hook"`) != len(c.Install)-1 {
		t.Errorf("%v\n%s", err, got)
	}
	s, err := c.State(got)
	if err != nil || len(s.Missing) != 0 || !slices.Equal(s.Mixed, []string{"Stop: mem-mcp hook && say done"}) || s.Others != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
	if got, err := c.Remove(got); err != nil || got != before {
		t.Errorf("%v\n%s", err, cmp.Diff(before, got))
	}
}

// Where a setting keeps every hook from running, that is told.
func TestHooksThatAreOff(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"claude-code": {`{"disableAllHooks": true}`: "disableAllHooks: true", `{"disableAllHooks": false}`: "", `{"disableAllHooks": "x"}`: "", `{"x": {"disableAllHooks": true}}`: ""},
		"gemini-cli":  {`{"hooksConfig": {"enabled": false}}`: "hooksConfig.enabled: false", `{"hooks": {"enabled": false}}`: "hooks.enabled: false", `{"tools": {"enableHooks": false}}`: "tools.enableHooks: false", `{"tools": 1}`: ""},
		"qwen-code":   {`{"disableAllHooks": true}`: "disableAllHooks: true"},
		"codex":       {`{"disableAllHooks": true}`: ""},
	} {
		for text, want := range files {
			if s, err := client(t, name).State(text); err != nil || s.Off != want {
				t.Errorf("%s %s: %+v, %v", name, text, s, err)
			}
		}
	}
}

// Whatever a settings file looks like, adding and removing change nothing else, and
// removing what was added gives the same settings.
func TestAnySettings(t *testing.T) {
	c := client(t, "claude-code")
	rapid.Check(t, func(t *rapid.T) {
		text := drawJSON(t, true)
		added, err := c.Add(text, "/bin/mem-mcp hook", c.Install)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		s, err := c.State(added)
		if err != nil || len(s.Missing) > 0 {
			t.Fatalf("%+v, %v in %s", s, err, added)
		}
		if again, err := c.Add(added, "/bin/mem-mcp hook", c.Install); err != nil || again != added {
			t.Fatalf("a second time: %v %s", err, again)
		}
		back, err := c.Remove(added)
		if err != nil {
			t.Fatalf("%v in %s", err, added)
		}
		if s, err := c.State(back); err != nil || len(s.Events) > 0 {
			t.Fatalf("%+v, %v in %s", s, err, back)
		}
		for _, comment := range []string{"/*a*/", "//b"} {
			if n := strings.Count(text, comment); strings.Count(added, comment) != n || strings.Count(back, comment) != n {
				t.Fatalf("a comment is lost: %s\n%s\n%s", text, added, back)
			}
		}
	})
}

// drawJSON draws a settings file: an object with hooks in some shapes, comments, commas.
func drawJSON(t *rapid.T, top bool) string {
	gap := func() string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\t", "/*a*/", " //b\n", "\n/*a*/\n"}).Draw(t, "gap")
	}
	join := func(open, shut string, parts []string) string {
		var b strings.Builder
		b.WriteString(open + gap())
		for i, p := range parts {
			b.WriteString(p + gap())
			if i < len(parts)-1 || rapid.Bool().Draw(t, "trailing") {
				b.WriteString("," + gap())
			}
		}
		return b.String() + shut
	}
	hook := func() string {
		return join("{", "}", []string{`"type": "command"`, `"command":` + gap() + `"say hello"`})
	}
	list := func(n string, f func() string) []string {
		var out []string
		for range rapid.IntRange(0, 2).Draw(t, n) {
			out = append(out, f())
		}
		return out
	}
	group := func() string {
		return join("{", "}", []string{`"hooks":` + gap() + join("[", "]", list("hooks", hook))})
	}
	var events []string
	for _, e := range []string{"Stop", "PreToolUse", "SessionStart"} {
		if rapid.Bool().Draw(t, e) {
			events = append(events, fmt.Sprintf("%q:", e)+gap()+join("[", "]", list("groups", group)))
		}
	}
	keys := []string{`"model": "x"`, `"n": 1.50`, `"permissions": {"allow": ["Bash(ls:*)"]}`}
	keys = keys[:rapid.IntRange(0, len(keys)).Draw(t, "keys")]
	if rapid.Bool().Draw(t, "has hooks") {
		at := rapid.IntRange(0, len(keys)).Draw(t, "at")
		keys = slices.Insert(slices.Clone(keys), at, `"hooks":`+gap()+join("{", "}", events))
	}
	return gap() + join("{", "}", keys) + gap()
}

func TestCommand(t *testing.T) {
	claude, codex := client(t, ""), client(t, "codex")
	for _, tc := range []struct{ goos, program, want string }{
		{"linux", "/usr/bin/mem-mcp", "/usr/bin/mem-mcp hook"},
		{"linux", "/opt/my tools/it's/mem-mcp", `'/opt/my tools/it'\''s/mem-mcp' hook`},
		{"windows", `C:\Tools\mem-mcp.exe`, "C:/Tools/mem-mcp.exe hook"},
		{"windows", `C:\Program Files\mem-mcp.exe`, `"C:/Program Files/mem-mcp.exe" hook`},
	} {
		got := claude.Command(tc.goos, tc.program)
		if got != tc.want || !ours().MatchString(got) {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if got := codex.Command(tc.goos, tc.program); got != tc.want+" --client codex" {
			t.Errorf("got %s", got)
		}
	}
	for _, named := range []string{"mem-mcp-dev hook", "/x/mem-mcp_0.3.exe hook --client codex", `C:\x\mem-mcp.exe hook`, `"$HOME/go/bin/mem-mcp" hook`, "${GOBIN}/mem-mcp hook", `"mem-mcp" hook --memory-dir '/a b/c;d'`, "~/bin/mem-mcp  hook "} {
		if !ours().MatchString(named) {
			t.Errorf("%q does not count as ours", named)
		}
	}
	if _, err := claude.Add("", "/bin/memory hook", claude.Install); err == nil || !strings.Contains(err.Error(), "has to begin with mem-mcp") {
		t.Errorf("got %v", err)
	}
	for _, other := range []string{"mem-mcp hooks", "mem-mcp", "echo mem-mcp-hook", "xmem-mcp hook", ""} {
		if ours().MatchString(other) || calls().MatchString(other) {
			t.Errorf("%q counts as ours", other)
		}
	}
	for _, mixed := range []string{"mem-mcp hook && say done", "say done; /bin/mem-mcp hook", "mem-mcp hook; rm x", "mem-mcp hook | tee log", "mem-mcp hook > log",
		"cd /x && mem-mcp hook --client codex", "mem-mcp hook $(say done)", "mem-mcp hook `say done`", "mem-mcp hook \"$(say done)\"", "mem-mcp hook # mine", "mem-mcp hook\nsay done", "X=1 mem-mcp hook", "timeout 3 mem-mcp hook"} {
		if ours().MatchString(mixed) || !calls().MatchString(mixed) {
			t.Errorf("%q: ours %v, calls mem %v", mixed, ours().MatchString(mixed), calls().MatchString(mixed))
		}
	}
}

// Every client is whole: its events are known, its files have a place, it is in the
// documentation.
func TestClients(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	env := settings.Env{Home: filepath.FromSlash("/home/x")}
	for _, c := range Clients {
		if !strings.Contains(string(doc), "`"+c.Name+"`") {
			t.Errorf("docs/hooks.md does not name %s", c.Name)
		}
		for _, e := range c.Install {
			if _, ok := c.Events[e]; !ok {
				t.Errorf("%s: the event %s is not known", c.Name, e)
			}
		}
		if c.File(env) == "" || c.projectFile == "" || c.File(settings.Env{}) != "" {
			t.Errorf("%s: no place for its settings", c.Name)
		}
	}
	for name, why := range Unsupported {
		if _, err := ClientNamed(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/hooks.md does not name %s", name)
		}
	}
}
