package dream

import (
	"context"
	"fmt"
	"time"

	"mem/core/transcript"
)

// scanEvery is how often sessions are looked for at most (seed 24.6).
const scanEvery = 10 * time.Minute

const (
	// maxScanned bounds the sessions that a scan remembers.
	maxScanned = 1000
	// maxListed bounds those that a result lists.
	maxListed = 50
)

// scan is what the last look for sessions found. It is remembered, since every process
// that ends a turn would look again.
type scan struct {
	Version int       `json:"v"`
	At      time.Time `json:"at"`
	Since   time.Time `json:"since,omitzero"` // the last success that it counted from
	// Sessions were touched since then, newest first.
	Sessions []string `json:"sessions"`
	More     int      `json:"more,omitempty"` // not listed
}

// without gives how many sessions there are but one.
func (s scan) without(current string) (ids []string, count int) {
	for _, id := range s.Sessions {
		if id != current {
			ids = append(ids, id)
		}
	}
	return ids, len(ids) + s.More
}

// sessions says whether enough happened since the last success.
func (s Setting) sessions(ctx context.Context, start Start, g *Gates) (Gate, error) {
	now, least := s.Env.Time(), s.Config.Jobs.Dream.MinSessions
	var sc scan
	// What cannot be read, or is of another version, is looked for anew.
	known := readState(s.State, scanName, &sc) == nil && sc.Version == recordVersion &&
		sc.Since.Equal(g.Last) && !now.Before(sc.At) && now.Sub(sc.At) < scanEvery
	if !known {
		var err error
		if sc, err = s.scan(ctx, g.Last); err != nil {
			return Gate{}, err
		}
		if !s.Asked { // else the time until the next look would begin
			if err := writeState(s.State, scanName, sc); err != nil {
				g.Notes = append(g.Notes, "The next check will look for sessions again: "+err.Error())
			}
		}
	}
	ids, n := sc.without(s.Session)
	g.Sessions, g.MoreSessions = ids[:min(len(ids), maxListed)], n-min(len(ids), maxListed)
	what := fmt.Sprintf("%d sessions were touched since the last dream, this one aside; %d are asked for", n, least)
	if n == 1 {
		what = fmt.Sprintf("1 session was touched since the last dream, this one aside; %d are asked for", least)
	}
	if n >= least {
		return Gate{Open: true, Reason: what}, nil
	}
	due := sc.At.Add(scanEvery)
	return Gate{Passed: start == Explicit, Due: due, Reason: fmt.Sprintf("%s. Looked at %s, and again at %s at the earliest", what,
		sc.At.UTC().Format(time.TimeOnly), due.UTC().Format(time.TimeOnly))}, nil
}

// scan looks for the sessions of the project that were touched since a time: by the times
// of their files, and by the beginning of those that are not known yet.
func (s Setting) scan(ctx context.Context, since time.Time) (scan, error) {
	sc := scan{Version: recordVersion, At: s.Env.Time(), Since: since, Sessions: []string{}}
	found, err := transcript.Find(ctx, s.Env, transcript.FindOptions{Project: s.Project, Shallow: true, Since: since})
	if err != nil {
		return scan{}, err
	}
	for _, x := range found.List {
		switch {
		case !since.IsZero() && !x.Modified.After(since):
		case len(sc.Sessions) < maxScanned:
			sc.Sessions = append(sc.Sessions, x.ID)
		default:
			sc.More++
		}
	}
	return sc, nil
}
