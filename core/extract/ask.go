package extract

import (
	"fmt"

	"mem/core/memory"
)

// Ask notes that somebody wants a session looked at, whatever the counter of turns says.
// The next run serves it. The error says why none can.
func Ask(m *memory.Memory, session, transcript string) error {
	if !m.Location.Memory.On {
		return fmt.Errorf("memory is switched off: %s", m.Location.Memory.Why)
	}
	return stateOf(m.StateDirectory()).wait(Waiting{Session: session, Transcript: transcript, Since: m.Env().Time(), Asked: true})
}

// Status is what extraction remembers of a memory.
type Status struct {
	// Off says why nothing is learnt from turns; "" where something is.
	Off     string
	Running string // id of the job that runs
	Every   int    // turns
	Waiting []Waiting
	Cursors []Cursor // of the sessions that were looked at last, newest first
	More    int      // cursors beyond those
}

// StatusOf gives it, with so many cursors at most.
func StatusOf(m *memory.Memory, cursors int) (*Status, error) {
	s := stateOf(m.StateDirectory())
	out := &Status{Off: Off(m), Running: s.running(), Every: m.Config.Jobs.Extract.EveryTurns}
	var err error
	if out.Waiting, err = s.waiting(); err != nil {
		return nil, err
	}
	all, err := s.cursors()
	if err != nil {
		return nil, err
	}
	if out.Cursors = all; len(all) > cursors {
		out.Cursors, out.More = all[:cursors], len(all)-cursors
	}
	return out, nil
}

// CursorOf gives up to where a session was looked at; it is the zero one where it never was.
func CursorOf(m *memory.Memory, session string) (Cursor, error) {
	return stateOf(m.StateDirectory()).cursor(session)
}
