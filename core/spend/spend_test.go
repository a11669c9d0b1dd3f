package spend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/model"
	"mem/core/settings"
	"mem/internal/need"
)

// TestMain plays a process of many that write.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MEM_TEST_LEDGER"); dir != "" {
		l := Open(settings.Env{StateDir: dir, Now: func() time.Time { return noon }})
		for range 20 {
			if err := l.Add(Entry{Kind: "dream", Engine: "provider", Usage: used}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var (
	east = time.FixedZone("east", 5*3600)
	noon = time.Date(2026, 12, 1, 2, 0, 0, 0, east) // in UTC still November
	used = model.Usage{Requests: 2, Input: 1000, Output: 100, CacheRead: 9000, Cost: 0.5, Priced: true}
)

func at(t *testing.T, now time.Time) *Ledger {
	t.Helper()
	return Open(settings.Env{StateDir: filepath.Join(t.TempDir(), "state"), Now: func() time.Time { return now }})
}

func budgets(tokens int64, runs int, cost float64) settings.BudgetsConfig {
	return settings.BudgetsConfig{Day: settings.Budget{Tokens: tokens, Runs: runs, Cost: cost}}
}

func TestLeft(t *testing.T) {
	l := at(t, noon)
	left := func(b settings.BudgetsConfig) Left {
		t.Helper()
		got, err := l.Left(b)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := left(budgets(5000, 10, 2)); !cmp.Equal(got, Left{Tokens: 5000, Runs: 10, Cost: 2}) {
		t.Errorf("of an empty ledger: %+v", got)
	}
	for _, e := range []Entry{
		{Time: noon.Add(-3 * time.Hour), Usage: used}, // yesterday, by a minute of the clock on the wall
		{Time: noon.Add(-90 * time.Minute), Usage: used},
		{Usage: used},
		{Time: noon.AddDate(0, 0, 1), Usage: used}, // a clock that was ahead
		{Usage: model.Usage{Input: 50, Estimated: true}},
	} {
		if err := l.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := left(budgets(5000, 10, 2)); !cmp.Equal(got, Left{Tokens: 2750, Runs: 5, Cost: 1, Unpriced: 1}) {
		t.Errorf("%+v", got)
	}
	if got := left(budgets(0, 0, 0)); !cmp.Equal(got, Left{Tokens: -1, Runs: -1, Cost: -1, Unpriced: 1}) {
		t.Errorf("without limits: %+v", got)
	}
	got := left(budgets(2000, 5, 1))
	want := "the day's budget is spent (2250 of 2000 tokens, 5 of 5 model calls, $1.00 of $1.00); it starts anew at 2026-12-02 00:00, or raise budgets.day.tokens and budgets.day.runs and budgets.day.cost"
	if got.Spent != want || got.Tokens != 0 || got.Runs != 0 || got.Cost != 0 {
		t.Errorf("%+v", got)
	}
	// The next day all is there again.
	l.env.Now = func() time.Time { return noon.AddDate(0, 0, 2) }
	if got := left(budgets(2000, 5, 1)); got.Spent != "" || got.Tokens != 2000 {
		t.Errorf("%+v", got)
	}
}

func TestReport(t *testing.T) {
	l := at(t, noon)
	for i, e := range []Entry{
		{Kind: "dream", Engine: "provider", Model: "b", Memory: "/m/1", Job: "j"},
		{Kind: "dream", Engine: "provider", Model: "a"},
		{Kind: "extract", Engine: "command"},
		{Kind: "dream", Engine: "provider", Time: noon.AddDate(0, 0, -1)},
		{Kind: "dream", Engine: "provider", Time: noon.AddDate(0, 0, -2)},
		{Kind: "dream", Engine: "provider", Time: noon.AddDate(0, 0, -40)},
	} {
		e.Usage = used
		if err := l.Add(e); err != nil {
			t.Fatal(i, err)
		}
	}
	got, err := l.Report(Options{Days: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{From: "2026-11-30", To: "2026-12-01", Runs: 4, Calls: 8, Total: used.Add(used).Add(used).Add(used), Rows: []Line{
		{Day: "2026-12-01", Kind: "dream", Engine: "provider", Runs: 2, Calls: 4, Models: []string{"a", "b"}, Usage: used.Add(used)},
		{Day: "2026-12-01", Kind: "extract", Engine: "command", Runs: 1, Calls: 2, Models: []string{}, Usage: used},
		{Day: "2026-11-30", Kind: "dream", Engine: "provider", Runs: 1, Calls: 2, Models: []string{}, Usage: used},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if all, err := l.Report(Options{Days: MaxDays}); err != nil || all.Runs != 6 {
		t.Errorf("%+v %v", all, err)
	}
	for _, n := range []int{-1, MaxDays + 1} {
		if _, err := l.Report(Options{Days: n}); err == nil {
			t.Errorf("%d days were reported", n)
		}
	}
}

// TestStored holds the format to docs/formats.md.
func TestStored(t *testing.T) {
	l := at(t, noon)
	if err := l.Add(Entry{Kind: "dream", Engine: "provider", Model: "m", Memory: "/m", Job: "j1", Usage: used}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.dir, "2026-11.jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"time":"2026-11-30T21:00:00Z","memory":"/m","job":"j1","kind":"dream","engine":"provider","model":"m",` +
		`"usage":{"requests":2,"inputTokens":1000,"outputTokens":100,"cacheReadTokens":9000,"costUSD":0.5,"priced":true}}` + "\n"
	if string(b) != want {
		t.Errorf("%s", b)
	}
	for p, mode := range map[string]os.FileMode{path: 0o600, l.dir: 0o700 | os.ModeDir, filepath.Join(l.dir, lockName): 0o600} {
		if info, err := os.Stat(p); err != nil || os.PathSeparator == '/' && info.Mode() != mode {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
}

// TestDamage: what is damaged costs itself and nothing else, and is told.
func TestDamage(t *testing.T) {
	l := at(t, noon)
	add := func() {
		t.Helper()
		if err := l.Add(Entry{Kind: "dream", Engine: "provider", Usage: used}); err != nil {
			t.Fatal(err)
		}
	}
	add()
	path := filepath.Join(l.dir, "2026-11.jsonl")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Join([]string{
		"garbage", `{"v":1,"time":"never"}`, "", `[]`, "\x00\x00", strings.Repeat("x", 3*maxLine),
		strings.Replace(string(good[:len(good)-1]), `"inputTokens":1000`, `"inputTokens":-1000000`, 1),
		strings.Replace(string(good[:len(good)-1]), `"costUSD":0.5`, `"costUSD":-100`, 1),
		strings.Replace(string(good[:len(good)-1]), `"v":1`, `"v":2`, 1),
		string(good[:50]), // a crash cut it
	}, "\n")
	if err := os.WriteFile(path, append(good, bad...), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(runs, damaged int) {
		t.Helper()
		r, err := l.Report(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Runs != runs || r.Total.Input != int64(runs)*1000 || len(r.Notes) != 2 || !strings.HasPrefix(r.Notes[0], fmt.Sprintf("%d lines in ", damaged)) || !strings.HasPrefix(r.Notes[1], "1 rows in ") {
			t.Errorf("%+v", r)
		}
	}
	check(1, 7)
	add() // ends the line that was cut
	check(2, 8)
	if got, err := l.Left(budgets(5000, 0, 0)); err != nil || got.Tokens != 5000-2200 || len(got.Notes) != 2 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	nowhere := Open(settings.Env{})
	if err := nowhere.Add(Entry{}); err == nil || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
		t.Error(err)
	}
	if _, err := nowhere.Left(budgets(1, 1, 1)); err == nil {
		t.Error("a budget without a ledger")
	}
	l := at(t, noon)
	if err := l.Add(Entry{Usage: model.Usage{Input: -5}}); err == nil {
		t.Error("a run that gives back")
	}
	if err := l.Add(Entry{Kind: strings.Repeat("k", 1<<20), Memory: "\xff", Usage: used}); err != nil {
		t.Error(err)
	}
	if r, err := l.Report(Options{}); err != nil || len(r.Rows) != 1 || len(r.Rows[0].Kind) != maxText {
		t.Errorf("%v", err)
	}
	// A link where our file should be is not followed.
	other := filepath.Join(t.TempDir(), "other")
	need.Link(t, other, filepath.Join(l.dir, "2026-12.jsonl"))
	if err := l.Add(Entry{Time: noon.AddDate(0, 0, 5), Usage: used}); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Error(err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("the link was followed")
	}
}

// TestMany: rows of many goroutines and processes are all there.
func TestMany(t *testing.T) {
	l := at(t, noon)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			c := exec.Command(self)
			c.Env = append(os.Environ(), "MEM_TEST_LEDGER="+filepath.Dir(l.dir))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		wg.Go(func() {
			for range 20 {
				if err := l.Add(Entry{Kind: "extract", Engine: "command", Usage: used}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	r, err := l.Report(Options{})
	if err != nil || r.Runs != 240 || len(r.Notes) > 0 || len(r.Rows) != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

func BenchmarkLeft(b *testing.B) {
	l := Open(settings.Env{StateDir: b.TempDir(), Now: func() time.Time { return noon }})
	if err := l.Add(Entry{Kind: "dream", Engine: "provider", Memory: "/home/somebody/projects/thing", Usage: used}); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(l.dir, "2026-11.jsonl")
	row, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	// A month at the budget's default of 500 calls a day, each a row.
	var all []byte
	for d := range 30 {
		for range 500 {
			all = append(all, strings.Replace(string(row), "11-30", fmt.Sprintf("11-%02d", d+1), 1)...)
		}
	}
	if err := os.WriteFile(path, all, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := l.Left(budgets(1, 1, 1)); err != nil {
			b.Fatal(err)
		}
	}
}
