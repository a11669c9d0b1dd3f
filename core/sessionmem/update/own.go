package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mem/core/job"
	"mem/core/memory"
	"mem/core/sessionmem"
	"mem/core/text"
	"mem/core/transcript"
)

// OverError says that a summary is larger than it may be. Nothing was written.
type OverError struct {
	Over []sessionmem.Over
}

func (e *OverError) Error() string {
	var all []string
	for _, o := range e.Over {
		all = append(all, o.String())
	}
	return "the summary is too long, and nothing was written: " + strings.Join(all, "; ") + ". Condense what matters least, keep \"Current State\" and \"Errors & Corrections\", and send all of it again"
}

// ErrSecret says that a summary was not written for what is in it.
var ErrSecret = errors.New("the summary holds what looks like a secret, and nothing was written; leave it out")

// Written is a summary that somebody wrote.
type Written struct {
	File   *sessionmem.File
	Filled int // of the ten sections
	Tokens int // about
	// Moved are titles that are none of the ten: what stood below them is in the worklog.
	Moved []string
}

// Own writes a summary that the agent of the session wrote itself. expected is the hash of
// the one that it replaces, "" where there is none.
func Own(ctx context.Context, m *memory.Memory, jobs *job.Jobs, x *transcript.Session, content, expected string) (*Written, error) {
	if !m.Location.Memory.On {
		return nil, fmt.Errorf("memory is switched off: %s", m.Location.Memory.Why)
	}
	sum := sessionmem.Parse(content)
	if over := sum.Check(m.Config.Jobs.SessionMemory); len(over) > 0 {
		return nil, &OverError{over}
	}
	if _, found := m.Guard().Redact([]byte(content)); len(found) > 0 {
		return nil, ErrSecret
	}
	if sum.Filled() == 0 || !slices.ContainsFunc(sum.Parts, func(p sessionmem.Part) bool { return p.Known }) {
		return nil, fmt.Errorf("the summary has none of its sections filled, and nothing was written. This is its form:\n\n%s", sessionmem.Template())
	}
	unlock, ok, err := jobs.TryLock(lockOf(x))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrBusy
	}
	defer unlock()
	v, err := look(ctx, m, x)
	if err != nil {
		return nil, err
	}
	defer v.src.Close()
	f, err := sessionmem.Write(x, sum.String(), expected)
	if err != nil {
		return nil, err
	}
	st := sessionmem.State{Session: x.ID, Leaf: v.measure.Leaf, Tokens: v.measure.Tokens, Boundary: v.measure.Boundary, Size: v.src.Size(), Updated: m.Env().Time(), Hash: f.Hash}
	if err := st.Save(m.StateDirectory()); err != nil {
		return nil, err
	}
	out := &Written{File: f, Filled: sum.Filled(), Tokens: sessionmem.Tokens(f.Text)}
	for _, p := range sum.Parts {
		if !p.Known && p.Title != "" {
			out.Moved = append(out.Moved, p.Title)
		}
	}
	return out, nil
}

// lockOf names the lock of a session.
func lockOf(x *transcript.Session) string { return "session-memory-" + text.Hash(x.ID)[:12] }
