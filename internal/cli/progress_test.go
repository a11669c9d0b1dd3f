package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mem/internal/cli"
	"mem/internal/term"
)

// screen is what a terminal shows while a command draws to it.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// at counts the looks at the environment, and does something at one of them.
func (m *machine) at(number int64, do func()) (count *atomic.Int64) {
	lookup := m.env.Lookup
	count = &atomic.Int64{}
	m.env.Lookup = func(k string) (string, bool) {
		if count.Add(1) == number {
			do()
		}
		return lookup(k)
	}
	return count
}

// moved gives the machine sessions of projects whose directories are gone.
func (m *machine) moved(n int) {
	m.t.Helper()
	for i := range n {
		cwd := fmt.Sprintf("/gone/%d/project", i)
		dir := filepath.Join(m.env.Home, ".claude", "projects", slug(cwd))
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000001", i)
		row := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":%q,"timestamp":"2026-11-29T10:00:00.000Z","cwd":%q,"sessionId":%q}`+"\n", id, cwd, id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			m.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(row), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

// TestLongCommandsShowABar: what takes over half a second says so on a terminal and not in a pipe, and
// ends at once where it is interrupted.
func TestLongCommandsShowABar(t *testing.T) {
	for _, args := range [][]string{
		{"adopt"}, {"adopt", "/gone/1/project"}, {"sessions"}, {"sessions", "--all"}, {"sessions", "archive", "--every"}, {"resume", "1111"}, {"export", "1111"},
		{"search", "--transcripts", "cold"}, {"summary", "1111"}, {"stores"}, {"dream", "--dry-run"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			run := func(ctx context.Context, terminal bool, number int64, do func()) (shown string, code int, looks int64) {
				m := newMachine(t)
				m.talks()
				m.moved(20)
				count := m.at(number, do)
				var out, errOut screen
				code = cli.Run(ctx, m.env, term.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut, Terminal: terminal, ErrTerminal: terminal, Width: 100}, "test", args)
				return errOut.String(), code, count.Load()
			}
			_, _, last := run(t.Context(), true, 0, nil)
			pause := func() { time.Sleep(time.Second) }
			if s, _, _ := run(t.Context(), true, last, pause); !strings.Contains(s, " ... ") {
				t.Errorf("no bar on a terminal: %q", s)
			}
			if s, _, _ := run(t.Context(), false, last, pause); strings.ContainsAny(s, "\x1b\r") || strings.Contains(s, " ... ") {
				t.Errorf("a bar in a pipe: %q", s)
			}
			for _, number := range []int64{last / 2, last * 3 / 4, last} {
				ctx, cancel := context.WithCancel(t.Context())
				var at time.Time
				s, code, _ := run(ctx, true, number, func() { at = time.Now(); cancel() })
				if took := time.Since(at); took > 2*time.Second || code == cli.ExitOK && args[0] == "adopt" && len(args) == 1 {
					t.Errorf("interrupted, it goes on for %v and ends with %d: %q", took, code, s)
				}
				cancel()
			}
		})
	}
}
