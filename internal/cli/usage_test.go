package cli_test

import (
	"testing"
	"time"

	"mem/core/model"
	"mem/core/spend"
	"mem/internal/cli"
	"mem/internal/clitest"
	"mem/internal/term"
)

func TestUsageTerminal(t *testing.T) {
	m := newMachine(t)
	l := spend.Open(m.env)
	for _, e := range []spend.Entry{
		{Kind: "extract", Engine: "provider", Usage: model.Usage{Requests: 2, Input: 1500, Output: 210, CacheRead: 88_000, Cost: 0.0114, Priced: true}},
		{Kind: "dream", Engine: "command", Time: m.now.AddDate(0, 0, -1), Usage: model.Usage{Requests: 31, Input: 1_204_000, Output: 40_100, Cost: 2.75, Priced: true}},
		{Kind: "session-memory\x1b[2J", Engine: "provider", Usage: model.Usage{Requests: 4, Input: 61_000, Output: 3_800, Estimated: true}},
	} {
		if e.Time.IsZero() {
			e.Time = m.now.Add(-time.Hour)
		}
		if err := l.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	out, errOut, code := m.run(term.Streams{Terminal: true, Width: 100}, "usage")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	clitest.Golden(t, "usage.txt", m.plain(out, nil)+m.plain(errOut, nil))
}
