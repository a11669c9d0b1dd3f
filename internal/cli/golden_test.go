package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mem/core/settings"
	"mem/internal/cli"
	"mem/internal/clitest"
	"mem/internal/need"
	"mem/internal/term"
)

// machine is a home, a project and a clock of a test's own.
type machine struct {
	t    *testing.T
	root string
	env  settings.Env
	vars map[string]string
	now  time.Time
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	c := clitest.NewMachine(t, "project")
	m := &machine{t: t, root: c.Root, env: c.Env, vars: c.Vars, now: clitest.Now()}
	m.env.Now = func() time.Time { return m.now }
	return m
}

// run gives what a command line prints, and its exit code. A minute passes
// before each.
func (m *machine) run(streams term.Streams, args ...string) (stdout, stderr string, code int) {
	m.t.Helper()
	m.now = m.now.Add(time.Minute)
	var out, errOut bytes.Buffer
	if streams.In == nil {
		streams.In = strings.NewReader("")
	}
	streams.Out, streams.Err = &out, &errOut
	code = cli.Run(context.Background(), m.env, streams, "test", args)
	return out.String(), errOut.String(), code
}

func (m *machine) must(body string, args ...string) string {
	m.t.Helper()
	out, errOut, code := m.run(term.Streams{In: strings.NewReader(body)}, args...)
	if code != cli.ExitOK {
		m.t.Fatalf("mem-mcp %s: exit code %d\n%s", strings.Join(args, " "), code, errOut)
	}
	return out
}

func (m *machine) change(body string, args ...string) string {
	m.t.Helper()
	var c struct{ Change string }
	if err := json.Unmarshal([]byte(m.must(body, append(args, "--json")...)), &c); err != nil {
		m.t.Fatal(err)
	}
	return c.Change
}

// furnish makes a memory with a few changes in it, and gives the ids of those.
func (m *machine) furnish() []string {
	m.t.Helper()
	ids := []string{
		m.change("Never mocks.\n", "write", "real-db", "--type", "feedback", "--description", "How tests reach the database", "--body-file", "-"),
		m.change("部署手册由她维护。\n", "write", "ana", "--type", "user", "--description", "安娜是谁，以及如何向她解释前端", "--body-file", "-"),
		m.change("Until 2027-01-05.\n", "write", "year-end-freeze", "--type", "project", "--description",
			"When nothing may be deployed that touches orders, invoices or payments, and whom to ask about an exception", "--body-file", "-"),
	}
	ids = append(ids, m.change("", "delete", "ana"))
	ids = append(ids, m.change("", "undo", ids[3]))
	old := time.Date(2026, 11, 29, 8, 30, 0, 0, time.UTC)
	for i, name := range []string{"real-db.md", "ana.md", "year-end-freeze.md"} {
		at := old.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(m.memory(), name), at, at); err != nil {
			m.t.Fatal(err)
		}
	}
	return ids
}

func (m *machine) memory() string {
	return filepath.Join(m.env.Home, ".claude", "projects", slug(m.env.Cwd), "memory")
}

var hash = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// plain makes an output comparable: escapes visible, and what differs from run
// to run in the same width.
func (m *machine) plain(s string, ids []string) string {
	s = strings.NewReplacer(slug(m.root), "-root", m.root, "/root", "\x1b", "␛").Replace(s)
	for i, id := range ids {
		s = strings.ReplaceAll(s, id, fmt.Sprintf("change-%06d", i+1))
	}
	return hash.ReplaceAllString(s, strings.Repeat("0", 32))
}

// The terminal output of the commands that people read most.
func TestTerminal(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	m := newMachine(t)
	ids := m.furnish()
	settingsFile := filepath.Join(m.env.Cwd, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settingsFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settingsFile, []byte(`{"autoMemoryDirectory": "/tmp/elsewhere"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		width int
		args  []string
	}{
		{"where", 100, []string{"where"}},
		{"list", 100, []string{"list"}},
		{"list-narrow", 60, []string{"list"}},
		{"history", 100, []string{"history"}},
		{"history-change", 100, []string{"history", ids[0]}},
		{"search", 100, []string{"search", "mocking", "databse"}},
		{"undo", 100, []string{"undo", ids[2]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.t = t
			out, errOut, code := m.run(term.Streams{Terminal: true, Width: c.width}, c.args...)
			if code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, errOut)
			}
			all := ids
			if c.name == "undo" {
				var h struct{ Changes []struct{ ID string } }
				if err := json.Unmarshal([]byte(m.must("", "history", "--json")), &h); err != nil {
					t.Fatal(err)
				}
				all = append(append([]string{}, ids...), h.Changes[0].ID)
			}
			clitest.Golden(t, c.name+".txt", m.plain(out, all)+m.plain(errOut, all))
		})
	}

	// NO_COLOR keeps the layout and drops the colours.
	m.t, m.vars["NO_COLOR"] = t, "1"
	if out, _, _ := m.run(term.Streams{Terminal: true, Width: 100}, "list"); strings.Contains(out, "\x1b") || !strings.Contains(out, "topics in") {
		t.Errorf("with NO_COLOR: %q", out)
	}
}

// What a memory says cannot break a row or command the terminal.
func TestHostileText(t *testing.T) {
	m := newMachine(t)
	if err := os.MkdirAll(m.memory(), 0o700); err != nil {
		t.Fatal(err)
	}
	topic := "---\nname: evil\ndescription: \"red \\e[31m and\\ta\\nnew row \\u009b2J\"\ntype: user\n---\n\nbody \x1b]0;title\x07 words\n"
	if err := os.WriteFile(filepath.Join(m.memory(), "evil.md"), []byte(topic), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"list"}, {"search", "words"}} {
		for _, terminal := range []bool{true, false} {
			m.vars["NO_COLOR"] = "1"
			out, errOut, code := m.run(term.Streams{Terminal: terminal, Width: 100}, args...)
			if code != cli.ExitOK || !strings.Contains(out, "new row") {
				t.Fatalf("exit code %d: %s%s", code, out, errOut)
			}
			if strings.ContainsAny(out+errOut, "\x1b\x07\u009b") {
				t.Errorf("%v: control characters: %q", args, out+errOut)
			}
		}
	}
	index := "- [evil](evil.md) — \x1b[2J\n- [gone](<g\x1b[2J.md>) — x\n"
	if err := os.WriteFile(filepath.Join(m.memory(), "MEMORY.md"), []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(m.memory(), "b\x1b]0;x\x07.md")
	need.Link(t, "/nowhere", broken)
	for _, args := range [][]string{{"read", "evil"}, {"read", "MEMORY.md"}, {"context"}, {"search", "words"}, {"list"}, {"history"}, {"read", "b\x1b[2J"}} {
		out, errOut, _ := m.run(term.Streams{Terminal: true, Width: 100}, args...)
		if strings.ContainsAny(out+errOut, "\x1b\x07\u009b") {
			t.Errorf("%v: control characters: %q", args, out+errOut)
		}
	}
	if out, _, _ := m.run(term.Streams{}, "read", "evil"); out != topic {
		t.Errorf("a pipe gets other bytes: %q", out)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := m.run(term.Streams{}, "list"); strings.Count(out, "\n") != 1 || strings.Count(out, "\t") != 4 {
		t.Errorf("not one row of five cells: %q", out)
	}
}

// Windows forms of paths, as far as another system can look at them.
func TestWindowsPaths(t *testing.T) {
	for given, reason := range map[string]string{
		`memory`:          "names no drive",
		`\memory`:         "names no drive",
		`/memory`:         "names no drive",
		`C:memory`:        "names no drive",
		`\\server\share`:  "network path",
		`//server/share`:  "network path",
		`C:\`:             "root of a file system",
		`c:/`:             "root of a file system",
		`~\memory`:        `"~" is not expanded`,
		`1:\memory`:       "names no drive",
		`C:\Users\a\mem`:  "",
		`c:/Users/a/mem`:  "",
		`D:\mem\..\other`: "",
	} {
		m := newMachine(t)
		m.env.GOOS = "windows"
		m.vars[settings.EnvOverride] = given
		var w struct {
			Rule    string
			Skipped []struct{ Candidate, Rule, Reason string }
		}
		if err := json.Unmarshal([]byte(m.must("", "where", "--json")), &w); err != nil {
			t.Fatal(err)
		}
		switch {
		case reason == "":
			if w.Rule != "override" {
				t.Errorf("%s: not taken: %+v", given, w)
			}
		case len(w.Skipped) == 0 || w.Skipped[0].Candidate != given || !strings.Contains(w.Skipped[0].Reason, reason):
			t.Errorf("%s: want it refused for %q: %+v", given, reason, w)
		}
	}
}
