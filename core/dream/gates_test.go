package dream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/project"
	"mem/core/settings"
)

// room is a Setting with a clock, a memory directory and sessions.
type room struct {
	Setting
	t     testing.TB
	clock time.Time
	dir   string // of the sessions
}

func newRoom(t testing.TB) *room {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, clock: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	top := filepath.Join(home, "work")
	r.dir = filepath.Join(home, ".claude", "projects", project.Slug(top))
	on := settings.Switch{On: true, Why: "nothing turns it off"}
	r.Setting = Setting{
		Env: settings.Env{Home: home, Cwd: top, GOOS: "linux", Now: func() time.Time { return r.clock },
			StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"), ConfigDir: filepath.Join(home, "config")},
		Config: settings.Default(), Memory: on, Dream: on,
		Directory: filepath.Join(r.dir, "memory"), State: filepath.Join(home, "state", "key"), Session: "current",
	}
	for _, d := range []string{top, r.Directory, filepath.Join(top, ".git", "objects"), filepath.Join(top, ".git", "refs")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r.Project, err = project.Find(top, r.Env.ProjectOptions()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *room) session(id string, at time.Time) {
	r.t.Helper()
	row := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"11111111-1111-4111-8111-111111111111","timestamp":"2026-11-01T10:00:00.000Z","cwd":%q,"sessionId":%q,"version":"2.1.332"}`+"\n", r.Env.Cwd, id)
	p := filepath.Join(r.dir, id+".jsonl")
	if err := errors.Join(os.WriteFile(p, []byte(row), 0o600), os.Chtimes(p, at, at)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) last(at time.Time) {
	r.t.Helper()
	p := filepath.Join(r.Directory, LockName)
	if err := errors.Join(os.WriteFile(p, nil, 0o600), os.Chtimes(p, at, at)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) check(start Start, all bool) *Gates {
	r.t.Helper()
	g, err := r.Check(context.Background(), start, all)
	if err != nil {
		r.t.Fatal(err)
	}
	return g
}

// closed is the name of the gate that keeps a run away, "" where none does.
func closed(g *Gates) string {
	if c := g.Closed(); c != nil {
		return c.Name
	}
	return ""
}

func TestMasterGate(t *testing.T) {
	off := settings.Switch{Why: "said so", Source: "settings.json"}
	for _, c := range []struct {
		name                     string
		change                   func(*Setting)
		reason                   string
		explicit, auto, schedule bool // a run may begin
	}{
		{"all on", func(*Setting) {}, "are on", true, true, true},
		{"memory off", func(s *Setting) { s.Memory = off }, "memory is switched off: said so (settings.json)", false, false, false},
		{"daily log", func(s *Setting) { s.DailyLog = true }, "daily-log mode", true, false, true},
		{"remote", func(s *Setting) { s.Remote = settings.Switch{On: true, Why: "CLAUDE_CODE_REMOTE=1"} }, "does not last", true, false, false},
		{"client's dream off", func(s *Setting) { s.Dream = off }, "client's settings", true, false, false},
		{"our dream off", func(s *Setting) { s.Config.Jobs.Dream.Enabled = false }, "jobs.dream.enabled is false", true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			r.Config.Jobs.Dream.MinSessions = 0
			c.change(&r.Setting)
			for start, want := range map[Start]bool{Explicit: c.explicit, Auto: c.auto, Schedule: c.schedule} {
				g := r.check(start, false)
				if g.Open != want || (closed(g) == "") != want {
					t.Errorf("%s: %+v", start, g)
				}
				if !strings.Contains(g.Gates[0].Reason, c.reason) {
					t.Errorf("%s: the reason is %q", start, g.Gates[0].Reason)
				}
				if !want && len(g.Gates) != 1 {
					t.Errorf("%s: it looked further: %+v", start, g.Gates)
				}
			}
		})
	}
}

func TestTimeGate(t *testing.T) {
	for _, c := range []struct {
		name string
		ago  time.Duration
		open bool
		due  time.Duration // from now
	}{
		{"a day", 24 * time.Hour, true, 0},
		{"almost a day", 24*time.Hour - time.Minute, false, time.Minute},
		{"just now", 0, false, 24 * time.Hour},
		{"the clock was set back an hour", -time.Hour, false, 25 * time.Hour},
		{"a future that cannot be", -25 * time.Hour, true, 0},
		{"years ago", 9000 * time.Hour, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			r.Config.Jobs.Dream.MinSessions = 0
			r.last(r.clock.Add(-c.ago))
			g := r.check(Auto, false)
			gate := g.Gates[1]
			if gate.Open != c.open || g.Open != c.open {
				t.Errorf("%+v", g)
			}
			if !c.open && (!gate.Due.Equal(r.clock.Add(c.due)) || !g.Next.Equal(gate.Due)) {
				t.Errorf("due %v, next %v; want %v", gate.Due, g.Next, r.clock.Add(c.due))
			}
			if g := r.check(Explicit, false); !g.Open {
				t.Errorf("an explicit run: %+v", g)
			}
			if g := r.check(Schedule, false); g.Open != c.open {
				t.Errorf("a schedule: %+v", g)
			}
		})
	}
	t.Run("never", func(t *testing.T) {
		r := newRoom(t)
		r.Config.Jobs.Dream.MinSessions = 0
		if g := r.check(Auto, false); !g.Open || !g.Last.IsZero() {
			t.Errorf("%+v", g)
		}
	})
}

func TestSessionsGate(t *testing.T) {
	r := newRoom(t)
	r.last(r.clock.Add(-30 * time.Hour))
	r.session("old", r.clock.Add(-31*time.Hour))
	r.session("current", r.clock)
	for i := range 4 {
		r.session(fmt.Sprintf("s%d", i), r.clock.Add(-time.Duration(i)*time.Hour))
	}
	g := r.check(Auto, false)
	if closed(g) != GateSessions || !strings.HasPrefix(g.Gates[2].Reason, "4 sessions") || strings.Join(g.Sessions, " ") != "s0 s1 s2 s3" {
		t.Fatalf("%+v", g)
	}
	if want := r.clock.Add(scanEvery); !g.Gates[2].Due.Equal(want) || !g.Next.Equal(want) {
		t.Errorf("due %v", g.Gates[2].Due)
	}

	// A fifth one is not seen before ten minutes are over, whichever process asks.
	r.session("s4", r.clock)
	r.clock = r.clock.Add(9 * time.Minute)
	if g := r.check(Auto, false); closed(g) != GateSessions {
		t.Errorf("after nine minutes: %+v", g)
	}
	if g := r.check(Explicit, false); !g.Open || len(g.Sessions) != 4 {
		t.Errorf("an explicit run: %+v", g)
	}
	r.clock = r.clock.Add(time.Minute)
	if g := r.check(Auto, false); !g.Open || len(g.Sessions) != 5 {
		t.Errorf("after ten minutes: %+v", g)
	}

	// The one that asks is left out of what is remembered, too.
	r.Session = "s4"
	if g := r.check(Auto, false); !g.Open || strings.Contains(strings.Join(g.Sessions, " "), "s4") {
		t.Errorf("from another session: %+v", g)
	}

	// After a success the count begins anew, at once.
	r.last(r.clock.Add(-25 * time.Hour))
	if g := r.check(Auto, false); len(g.Sessions) != 5 {
		t.Errorf("counted from a later success: %+v", g)
	}

	// A clock that went back: what was remembered says nothing.
	r.session("s5", r.clock)
	r.clock = r.clock.Add(-5 * time.Minute)
	if g := r.check(Auto, false); len(g.Sessions) != 6 {
		t.Errorf("after the clock went back: %+v", g)
	}
}

func TestSessionsRememberedAreBounded(t *testing.T) {
	r := newRoom(t)
	for i := range maxListed + 10 {
		r.session(fmt.Sprintf("s%03d", i), r.clock)
	}
	g := r.check(Auto, false)
	if len(g.Sessions) != maxListed || g.MoreSessions != 10 {
		t.Errorf("%d listed, %d more", len(g.Sessions), g.MoreSessions)
	}
}

func TestLockGate(t *testing.T) {
	r := newRoom(t)
	r.Config.Jobs.Dream.MinSessions = 0
	h, err := r.Lock().Take("job", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []Start{Explicit, Auto, Schedule} {
		if g := r.check(start, false); closed(g) != GateLock || !strings.Contains(g.Closed().Reason, "dreams since") {
			t.Errorf("%s: %+v", start, g)
		}
	}
	if err := h.Done(); err != nil {
		t.Fatal(err)
	}
	if g := r.check(Explicit, false); !g.Open {
		t.Errorf("%+v", g)
	}
	if g := r.check(Auto, false); closed(g) != GateTime {
		t.Errorf("%+v", g)
	}
}

func TestAllGatesForAStatus(t *testing.T) {
	r := newRoom(t)
	r.Dream = settings.Switch{Why: "off"}
	r.last(r.clock)
	g := r.check(Auto, true)
	if len(g.Gates) != 4 || closed(g) != GateMaster || !g.Next.IsZero() {
		t.Errorf("%+v", g)
	}
	for i, name := range []string{GateMaster, GateTime, GateSessions, GateLock} {
		if gate := g.Gates[i]; gate.Name != name || gate.Reason == "" || gate.Cost <= 0 {
			t.Errorf("%+v", gate)
		}
	}
	r.Dream.On = true
	if g := r.check(Auto, true); !g.Next.Equal(r.clock.Add(24 * time.Hour)) {
		t.Errorf("next is %v", g.Next)
	}
}

// TestGatesMendAfterACrash: the mark of a dead run is taken back as soon as a gate sees it.
func TestGatesMendAfterACrash(t *testing.T) {
	r := newRoom(t)
	r.Config.Jobs.Dream.MinSessions = 0
	before := r.clock.Add(-26 * time.Hour)
	r.last(before)
	l := r.Lock()
	l.PID, l.Start = 1<<22+7, func(int) string { return "gone" } // above the pids of Linux and macOS
	h, err := l.Take("job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	g := r.check(Auto, false)
	if !g.Open || !g.Last.Equal(before) || len(g.Notes) != 1 {
		t.Errorf("%+v", g)
	}
	info, err := os.Stat(filepath.Join(r.Directory, LockName))
	if err != nil || !info.ModTime().Equal(before) {
		t.Errorf("%v, %v", info, err)
	}
	if g := r.check(Auto, false); !g.Open || len(g.Notes) != 0 {
		t.Errorf("the second look: %+v", g)
	}
}

func BenchmarkClosedMasterGate(b *testing.B) {
	r := newRoom(b)
	r.Dream = settings.Switch{Why: "off"}
	for b.Loop() {
		r.check(Auto, false)
	}
}

func BenchmarkClosedTimeGate(b *testing.B) {
	r := newRoom(b)
	h, err := r.Lock().Take("job", nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Done(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if g := r.check(Auto, false); closed(g) != GateTime {
			b.Fatal(g)
		}
	}
}

func BenchmarkClosedSessionsGate(b *testing.B) {
	r := newRoom(b)
	for i := range 4 {
		r.session(fmt.Sprintf("s%d", i), r.clock)
	}
	for b.Loop() {
		if g := r.check(Auto, false); closed(g) != GateSessions {
			b.Fatal(g)
		}
	}
}
