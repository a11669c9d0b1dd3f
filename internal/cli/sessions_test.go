package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/internal/cli"
	"mem/internal/clitest"
	"mem/internal/term"
)

// talks gives the machine a few sessions of its project.
func (m *machine) talks() {
	m.t.Helper()
	dir := filepath.Join(m.env.Home, ".claude", "projects", slug(m.env.Cwd))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		m.t.Fatal(err)
	}
	row := `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":%q},"uuid":"%s-0000-4000-8000-00000000000a","timestamp":"2026-11-29T10:00:00.000Z","cwd":%q,"sessionId":"%s-0000-4000-8000-000000000001","version":"2.1.332","gitBranch":%q}` + "\n"
	for i, x := range []struct{ id, said, branch string }{
		{"11111111", "Why does the cache stay cold after each release, though the warmer runs, and who looks after it?", "main"},
		{"22222222", "订单服务归谁维护？谁来部署？", "fix/订单"},
		{"33333333", "red \x1b[31m and a\nnew row", "x"},
	} {
		text := fmt.Sprintf(row, x.said, x.id, m.env.Cwd, x.id, x.branch)
		text = strings.ReplaceAll(text, `\x1b`, `\u001b`)
		text = fmt.Sprintf("%-800s\n", strings.TrimSpace(text)) // as long wherever the test runs
		file := filepath.Join(dir, x.id+"-0000-4000-8000-000000000001.jsonl")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			m.t.Fatal(err)
		}
		at := m.now.Add(-time.Duration(i+1) * time.Hour)
		if i == 2 {
			at = m.now.Add(-28 * 24 * time.Hour)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			m.t.Fatal(err)
		}
	}
}

// What the commands for sessions show on a terminal.
func TestSessionsTerminal(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	m := newMachine(t)
	m.talks()
	for _, c := range []struct {
		name  string
		width int
		args  []string
	}{
		{"sessions", 100, []string{"sessions"}},
		{"sessions-narrow", 70, []string{"sessions"}},
		{"search-transcripts", 100, []string{"search", "--transcripts", "cold", "caches"}},
		{"resume", 100, []string{"resume", "2222"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.t = t
			out, errOut, code := m.run(term.Streams{Terminal: true, Width: c.width}, c.args...)
			if code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, errOut)
			}
			if strings.Contains(out+errOut, "\x1b[31m and") {
				t.Error("a session commands the terminal")
			}
			clitest.Golden(t, c.name+".txt", m.plain(out, nil)+m.plain(errOut, nil))
		})
	}
}

// The command that a hit names takes it up: where other folders were searched it names them.
func TestHitsNameWhatTakesThemUp(t *testing.T) {
	m := newMachine(t)
	m.talks()
	dir := filepath.Join(m.env.Home, "other folder")
	if err := os.Rename(filepath.Join(m.env.Home, ".claude", "projects", slug(m.env.Cwd)), dir); err != nil {
		t.Fatal(err)
	}
	out, errOut, code := m.run(term.Streams{Terminal: true, Width: 200}, "search", "--transcripts", "--sessions-dir", dir, "cold", "caches")
	want := "mem-mcp resume 11111111-0000-4000-8000-000000000001 --at 11111111-0000-4000-8000-00000000000a --sessions-dir '" + dir + "'"
	if code != cli.ExitOK || !strings.Contains(out, want) {
		t.Fatalf("exit code %d: %s %s", code, out, errOut)
	}
	out, errOut, code = m.run(term.Streams{}, "resume", "11111111-0000-4000-8000-000000000001", "--at", "11111111-0000-4000-8000-00000000000a", "--sessions-dir", dir)
	if code != cli.ExitOK || !strings.Contains(out, "stay cold") {
		t.Errorf("exit code %d: %s %s", code, out, errOut)
	}
}
