package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// dreamBudget is what a dream that a gate closes may cost as a whole process, beyond a program
// that links the same and does nothing.
const dreamBudget = 10 * time.Millisecond

// dreamGates are the gates that keep a dream by itself away, and what makes them.
var dreamGates = []struct {
	gate   string
	config string
	last   time.Duration // since the last dream
}{
	{"master", "jobs:\n  dream: {enabled: false}\n", 48 * time.Hour},
	{"time", "", time.Hour},
	{"sessions", "", 48 * time.Hour},
}

// dreamScene is a hookScene with a memory of 200 topics and four sessions, of which five
// are asked for.
type dreamScene struct {
	*hookScene
	memory string
}

func newDreamScene(tb testing.TB) *dreamScene {
	tb.Helper()
	s := &dreamScene{hookScene: newHookScene(tb)}
	cmd := exec.Command(binary, "where", "--json")
	cmd.Dir, cmd.Env = s.project, s.env
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	var where struct{ Directory string }
	if err := json.Unmarshal(out, &where); err != nil {
		tb.Fatal(err)
	}
	s.memory = where.Directory
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.memory), 0o755), os.CopyFS(s.memory, os.DirFS(fill(tb, 200)))); err != nil {
		tb.Fatal(err)
	}
	for i := range 4 {
		id := fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)
		row := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"11111111-1111-4111-8111-111111111111","timestamp":"2026-11-01T10:00:00.000Z","cwd":%q,"sessionId":%q,"version":"2.1.332"}`+"\n", s.project, id)
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.memory), id+".jsonl"), []byte(row), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// closed makes a gate the one that is closed.
func (s *dreamScene) closed(tb testing.TB, config string, last time.Duration) {
	tb.Helper()
	s.config(tb, config)
	lock, at := filepath.Join(s.memory, ".consolidate-lock"), time.Now().Add(-last)
	if err := errors.Join(os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, at, at)); err != nil {
		tb.Fatal(err)
	}
}

// dream runs mem-mcp dream --auto, which the gate has to keep away.
func (s *dreamScene) dream(tb testing.TB, gate string) time.Duration {
	tb.Helper()
	cmd := exec.Command(binary, "dream", "--auto", "--json")
	cmd.Dir, cmd.Env = s.project, s.env
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil || !bytes.Contains(out, []byte(`"closed"`)) {
		tb.Fatalf("%v: %s", err, out)
	}
	var r struct{ Closed struct{ Gate string } }
	if err := json.Unmarshal(out, &r); err != nil || r.Closed.Gate != gate {
		tb.Fatalf("the gate %q is closed, not %s: %s", r.Closed.Gate, gate, out)
	}
	return took
}

// The least of several runs is what it costs; all above is the machine's.
func TestClosedDreamCostsLittle(t *testing.T) {
	s := newDreamScene(t)
	for _, c := range dreamGates {
		s.closed(t, c.config, c.last)
		dream, empty := time.Hour, time.Hour
		for range 25 {
			dream, empty = min(dream, s.dream(t, c.gate)), min(empty, s.runEmpty(t))
		}
		t.Logf("%s: %s, a program that does nothing %s", c.gate, dream, empty)
		if dream-empty > dreamBudget {
			t.Errorf("a dream that the %s gate closes costs %s more than a program that does nothing, at most %s is allowed", c.gate, dream-empty, dreamBudget)
		}
	}
}

func BenchmarkDreamClosed(b *testing.B) {
	s := newDreamScene(b)
	for _, c := range dreamGates {
		s.closed(b, c.config, c.last)
		b.Run(c.gate, func(b *testing.B) {
			var dream, empty []time.Duration
			for b.Loop() {
				dream, empty = append(dream, s.dream(b, c.gate)), append(empty, s.runEmpty(b))
			}
			b.ReportMetric(micros(slices.Min(dream)-slices.Min(empty)), "us-least-more")
			b.ReportMetric(micros(median(dream)), "us-median")
			b.ReportMetric(micros(median(empty)), "us-median-empty")
		})
	}
}
