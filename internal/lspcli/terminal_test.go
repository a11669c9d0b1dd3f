package lspcli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/settings"
	"mem/internal/clitest"
	"mem/internal/lspcli"
	"mem/internal/term"
)

// machine is a home, a working directory and a clock of a test's own.
type machine struct {
	t    *testing.T
	root string
	env  settings.Env
	vars map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	c := clitest.NewMachine(t, "work")
	return &machine{t: t, root: c.Root, env: c.Env, vars: c.Vars}
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.env.Cwd, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) run(ctx context.Context, s term.Streams, args ...string) (out, errOut string, code int) {
	var o, e bytes.Buffer
	s.In, s.Out, s.Err = strings.NewReader(""), &o, &e
	code = lspcli.Run(ctx, lspcli.Options{Env: m.env, Streams: s, Version: "test"}, args)
	return o.String(), e.String(), code
}

// What people see on a terminal.
func TestTerminal(t *testing.T) {
	m := newMachine(t)
	m.write("memory/MEMORY.md", "\ufeff- [笔记](笔记.md) — x\n")
	m.write("memory/笔记.md", "---\nname: 笔记\ndescription: x\ntype: user\n---\n部署😀手册 caf\xe9 \x1b[31mred\n")
	m.write("clean/MEMORY.md", "")
	for _, c := range []struct {
		name  string
		width int
		args  []string
		code  int
	}{
		{"check", 80, []string{"check", "--rule", "encoding"}, lspcli.ExitFindings},
		{"check-clean", 80, []string{"check", "--rule", "encoding", "clean"}, lspcli.ExitOK},
		{"fix-diff", 80, []string{"fix", "--diff", "--rule", "encoding"}, lspcli.ExitFindings},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errOut, code := m.run(context.Background(), term.Streams{Terminal: true, Width: c.width}, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			clitest.Golden(t, c.name+".txt", strings.ReplaceAll(out+errOut, "\x1b", "␛"))
		})
	}

	// NO_COLOR keeps the layout and drops the colours.
	m.vars["NO_COLOR"] = "1"
	if out, _, _ := m.run(context.Background(), term.Streams{Terminal: true, Width: 80}, "check", "--rule", "encoding"); strings.Contains(out, "\x1b") || !strings.Contains(out, "\nmemory/") {
		t.Errorf("with NO_COLOR: %q", out)
	}
}

// An interrupt stops a check with what it has said so far; what it did not come to
// is told as not checked.
func TestStopped(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		m := newMachine(t)
		for _, dir := range []string{"a", "b", "c"} {
			m.write(dir+"/MEMORY.md", "\ufeff")
		}
		ctx, cancel := context.WithCancel(context.Background())
		now, looks := m.env.Now, 0
		m.env.Now = func() time.Time { // each Snapshot looks at the clock
			if looks++; looks == 2 {
				cancel()
			}
			return now()
		}
		out, errOut, code := m.run(ctx, term.Streams{}, "check", "--rule", "encoding", "--format", format)
		if code != lspcli.ExitStopped || !strings.Contains(errOut, "stopped before its end") {
			t.Errorf("exit code %d: %s", code, errOut)
		}
		if format == "text" && !(strings.Contains(out, "a/MEMORY.md:1:1") && strings.Contains(out, "c: not checked:") && !strings.Contains(out, "c/MEMORY.md")) {
			t.Errorf("it said: %s", out)
		}
		if format == "json" && strings.Count(out, "interrupted") != 2 {
			t.Errorf("it said: %s", out)
		}
	}
	m := newMachine(t)
	m.write("a/MEMORY.md", "\ufeff")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, command := range []string{"check", "fix"} {
		if _, errOut, code := m.run(ctx, term.Streams{}, command); code != lspcli.ExitStopped || !strings.Contains(errOut, "stopped") {
			t.Errorf("%s: exit code %d: %s", command, code, errOut)
		}
	}
}

// What takes long is told on a terminal, and taken away before the result.
func TestProgress(t *testing.T) {
	m := newMachine(t)
	m.write("a/MEMORY.md", "\ufeff")
	now, slept := m.env.Now, false
	m.env.Now = func() time.Time {
		if !slept {
			slept = true
			time.Sleep(800 * time.Millisecond)
		}
		return now()
	}
	_, errOut, _ := m.run(context.Background(), term.Streams{ErrTerminal: true}, "check")
	if !strings.Contains(errOut, "checking a (1 of 1)") || !strings.Contains(errOut, "\r\x1b[K") {
		t.Errorf("it said %q", errOut)
	}
	i, j := strings.LastIndex(errOut, "\r\x1b[K"), strings.Index(errOut, "finding")
	if i < 0 || j >= 0 && j < i {
		t.Errorf("the line is not taken away: %q", errOut)
	}
	for _, quiet := range []term.Streams{{}, {Terminal: true}} {
		slept = false
		if _, errOut, _ := m.run(context.Background(), quiet, "check"); strings.Contains(errOut, "\r") {
			t.Errorf("without a terminal it said %q", errOut)
		}
	}
}

// An output that is gone is an error, not success.
func TestClosedOutput(t *testing.T) {
	m := newMachine(t)
	m.write("a/MEMORY.md", "\ufeff")
	var e bytes.Buffer
	code := lspcli.Run(context.Background(), lspcli.Options{Env: m.env, Streams: term.Streams{In: strings.NewReader(""), Out: closed{}, Err: &e}}, []string{"check"})
	if code != lspcli.ExitUsage || !strings.Contains(e.String(), "closed") {
		t.Errorf("exit code %d: %s", code, e.String())
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A page is set for the width of the terminal; examples stay as they are.
func TestPage(t *testing.T) {
	page := "# some-rule\n\nA sentence that is longer than the terminal is wide, of which there are many\non pages.\n\n" +
		"````txtar\n-- a.md --\n```go\nsome code that is longer than the terminal is wide, left alone\n```\n\x1b[2J\n````\n\n" +
		"- `fix-one` (safe): does one thing and then another, too\n- `fix-two`: does two\n\n## Why\nBecause.\n"
	clitest.Golden(t, "page.txt", strings.ReplaceAll(lspcli.Page(page, 40), "\x1b", "␛"))
	m := newMachine(t)
	out, _, code := m.run(context.Background(), term.Streams{Terminal: true, Width: 70}, "rules", "encoding")
	if code != lspcli.ExitOK || !strings.HasPrefix(out, "\x1b[1mencoding\x1b[0m\n") || strings.Contains(out, "```") {
		t.Errorf("exit code %d: %q", code, out)
	}
}
