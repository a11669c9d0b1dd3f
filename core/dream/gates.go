package dream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"mem/core/settings"
)

// Start says who wants a run, and so which gates count.
type Start string

// The ways to start.
const (
	// Explicit is a person or an agent that asks: only memory that is off or not there yet and the lock stop it.
	Explicit Start = "explicit"
	// Auto is the stop hook: all gates count.
	Auto Start = "auto"
	// Schedule is what a person set up to run by the clock: all gates count but that of the
	// daily-log mode, whose logs it distils.
	Schedule Start = "schedule"
)

// Names of the gates, cheapest first.
const (
	GateMaster   = "master"
	GateTime     = "time"
	GateSessions = "sessions"
	GateLock     = "lock"
)

// Gate is one check that must pass before a run begins.
type Gate struct {
	Name string `json:"gate"`
	Open bool   `json:"open"`
	// Passed says that it is closed and does not count for this start.
	Passed bool   `json:"passed,omitempty"`
	Reason string `json:"reason"`
	// Due is when it opens or is worth another look, zero where time alone does not open it.
	Due time.Time `json:"due,omitzero"`
	// Cost is how long the check took, in nanoseconds.
	Cost time.Duration `json:"costNs"`
}

// Gates is what the gates say of a run.
type Gates struct {
	Start Start  `json:"start"`
	Open  bool   `json:"open"` // all that count
	Gates []Gate `json:"gates"`
	// Last is when the last successful run began; zero where there was none.
	Last time.Time `json:"lastSuccess,omitzero"`
	// Sessions were touched since then, newest first; nil where the gates before were closed
	// and it was not asked for all.
	Sessions []string `json:"sessions,omitempty"`
	// MoreSessions are not listed.
	MoreSessions int `json:"moreSessions,omitempty"`
	// Next is when a run by itself may be due, as far as anybody can tell; zero where
	// something else than time has to change first.
	Next time.Time `json:"nextDue,omitzero"`
	// Notes say what the reader should know, such as a crash.
	Notes []string `json:"notes,omitempty"`
}

// Closed gives the first gate that keeps the run from beginning, nil when none does.
func (g *Gates) Closed() *Gate {
	for i := range g.Gates {
		if !g.Gates[i].Open && !g.Gates[i].Passed {
			return &g.Gates[i]
		}
	}
	return nil
}

// Check asks the gates in order. It stops at the first one that is closed, unless all are
// asked for, as a status does. Nothing is changed but what is remembered of the scan for
// sessions, and a lock file that a crash left.
//
// A closed master gate costs no look at the disk, a closed time gate one stat and our
// record.
func (s Setting) Check(ctx context.Context, start Start, all bool) (*Gates, error) {
	g := &Gates{Start: start}
	g.ask(GateMaster, func() Gate { return s.master(start) })
	if g.over(all) {
		return g, nil
	}
	began := time.Now()
	st, err := s.Lock().Standing()
	if err != nil {
		return nil, err
	}
	g.Last = st.Last
	stat := time.Since(began)
	g.ask(GateTime, func() Gate { return s.time(start, st) })
	g.Gates[len(g.Gates)-1].Cost += stat
	if st.Crashed {
		g.Notes = append(g.Notes, "The last dream did not come to its end; it does not count.")
		if !s.Asked {
			if err := s.Lock().Mend(); err != nil {
				g.Notes = append(g.Notes, "Its mark could not be taken back: "+err.Error())
			}
		}
	}
	if g.over(all) {
		g.due()
		return g, nil
	}
	var failed error
	g.ask(GateSessions, func() (gate Gate) { gate, failed = s.sessions(ctx, start, g); return gate })
	if failed != nil {
		return nil, failed
	}
	if !g.over(all) {
		g.ask(GateLock, func() Gate { return s.lock(st) })
	}
	g.Open = g.Closed() == nil
	g.due()
	return g, nil
}

// ask measures one gate.
func (g *Gates) ask(name string, check func() Gate) {
	began := time.Now()
	gate := check()
	gate.Name, gate.Cost = name, time.Since(began)
	g.Gates = append(g.Gates, gate)
}

func (g *Gates) over(all bool) bool { return !all && g.Closed() != nil }

// due says when a run by itself may be due: when the last of the closed gates opens.
func (g *Gates) due() {
	for _, gate := range g.Gates {
		if gate.Open {
			continue
		}
		if gate.Due.IsZero() {
			g.Next = time.Time{}
			return
		}
		if gate.Due.After(g.Next) {
			g.Next = gate.Due
		}
	}
}

// master says whether the settings want a run.
func (s Setting) master(start Start) Gate {
	said := func(why settings.Switch) string {
		if why.Source == "" {
			return why.Why
		}
		return fmt.Sprintf("%s (%s)", why.Why, why.Source)
	}
	switch {
	case !s.Memory.On:
		return Gate{Reason: "memory is switched off: " + said(s.Memory)}
	case s.DailyLog:
		return Gate{Passed: start != Auto, Reason: "in daily-log mode no dream starts by itself at the end of a turn; a schedule distils the logs (mem-mcp dream schedule)"}
	case s.Remote.On:
		return Gate{Passed: start == Explicit, Reason: "the client runs on a machine that does not last: " + said(s.Remote)}
	case !s.Dream.On:
		return Gate{Passed: start == Explicit, Reason: "dreams are switched off in the client's settings: " + said(s.Dream)}
	case !s.Config.Jobs.Dream.Enabled:
		return Gate{Passed: start == Explicit, Reason: fmt.Sprintf("jobs.dream.enabled is false (%s)", s.Config.Source("jobs.dream.enabled"))}
	}
	return Gate{Open: true, Reason: "memory and dreams are on"}
}

// time says whether the last success lies far enough back.
func (s Setting) time(start Start, st Standing) Gate {
	now := s.Env.Time()
	passed := start == Explicit
	least := time.Duration(s.Config.Jobs.Dream.MinHours) * time.Hour
	if st.Last.IsZero() {
		if !st.exists {
			if _, err := os.Lstat(s.Directory); errors.Is(err, fs.ErrNotExist) {
				// Whoever asks: there is nothing to consolidate.
				return Gate{Reason: "there is no memory yet; the first one that is written creates its directory"}
			}
		}
		return Gate{Open: true, Reason: "there was no dream yet"}
	}
	when := st.Last.UTC().Format(time.RFC3339)
	since := now.Sub(st.Last)
	switch {
	case since >= least:
		return Gate{Open: true, Reason: fmt.Sprintf("the last dream began %s ago (%s); %s are asked for", hours(since), when, hours(least))}
	case since < -least:
		// A clock was wrong, then or now. Its difference must not keep dreams away for ever.
		return Gate{Open: true, Reason: fmt.Sprintf("the last dream seems to have begun at %s, %s from now: a clock was wrong, so that time does not count", when, hours(-since))}
	case since < 0:
		return Gate{Passed: passed, Due: st.Last.Add(least), Reason: fmt.Sprintf("the last dream seems to have begun at %s, %s from now: a clock was set back, so it counts as just over; %s are asked for", when, hours(-since), hours(least))}
	}
	return Gate{Passed: passed, Due: st.Last.Add(least), Reason: fmt.Sprintf("the last dream began %s ago (%s); %s are asked for", hours(since), when, hours(least))}
}

// hours shows a duration as people say it.
func hours(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 72*time.Hour:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}

// lock says whether somebody dreams. Taking the lock is what decides.
func (s Setting) lock(st Standing) Gate {
	if st.Holder == 0 {
		return Gate{Open: true, Reason: "nobody dreams"}
	}
	g := Gate{Reason: fmt.Sprintf("process %d dreams since %s", st.Holder, st.Since.UTC().Format(time.RFC3339))}
	if due := st.Since.Add(StaleAfter); due.After(s.Env.Time()) {
		g.Due = due
	}
	return g
}
