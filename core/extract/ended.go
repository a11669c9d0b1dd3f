package extract

import (
	"errors"
	"fmt"

	"mem/core/fork"
	"mem/core/memory"
)

// Ended is told of every turn that ends. It passes the gates that cost next to nothing,
// and notes that the session waits where they are open; what remains to be asked needs the
// transcript, and is asked by the run. Where somebody only asked, nothing is noted.
func Ended(m *memory.Memory, turn Turn, asked bool) (Decision, error) {
	if d, open := switches(m, turn); !open {
		return d, nil
	}
	s := stateOf(m.StateDirectory())
	n, err := s.turns(turn.Session)
	if err != nil {
		return Decision{}, fmt.Errorf("extraction: %w", err)
	}
	waits := false
	if turn.Over {
		if _, waits, err = s.waits(turn.Session); err != nil {
			return Decision{}, fmt.Errorf("extraction: %w", err)
		}
		if n == 0 && !waits {
			return Decision{Gate: "over", Reason: "the session is over, and all of its turns were looked at or are being looked at"}, nil
		}
	} else {
		n++
	}
	every, busy := m.Config.Jobs.Extract.EveryTurns, s.running() != ""
	note := func(n int) error {
		if asked || every <= 1 {
			return nil
		}
		return s.setTurns(turn.Session, n)
	}
	if n < every && !busy && !turn.Over {
		return Decision{Gate: "counter", Reason: fmt.Sprintf("it is the %s turn since the last run, and jobs.extract.every_turns is %d", ordinal(n), every)}, note(n)
	}
	if !asked && !waits {
		// The counter begins anew once the session is looked at.
		if err := errors.Join(note(n), s.wait(Waiting{Session: turn.Session, Transcript: turn.Transcript, Since: m.Env().Time()})); err != nil {
			return Decision{}, fmt.Errorf("extraction: %w", err)
		}
	}
	if busy {
		return Decision{Gate: "running", Reason: "a run is under way on this memory; the trailing run after it serves this session"}, nil
	}
	return Decision{Run: true, Gate: "due", Reason: "the turn ended and nothing speaks against a run"}, nil
}

// switches asks what needs no file of the session.
func switches(m *memory.Memory, turn Turn) (Decision, bool) {
	switch {
	case turn.Agent != "":
		return Decision{Gate: "agent", Reason: "the turn is a subagent's; only the main agent's are learnt from"}, false
	case !m.Location.Memory.On:
		return Decision{Gate: "memory", Reason: "memory is switched off: " + m.Location.Memory.Why}, false
	case !m.Config.Jobs.Extract.Enabled:
		return Decision{Gate: "setting", Reason: "jobs.extract.enabled is false (" + m.Config.Source("jobs.extract.enabled") + ")"}, false
	case m.Config.Engine == fork.None:
		return Decision{Gate: "engine", Reason: "the engine is none (" + m.Config.Source("engine") + ")"}, false
	case turn.Session == "":
		return Decision{Gate: "session", Reason: "the turn names no session"}, false
	}
	return Decision{}, true
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprint(n, "st")
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprint(n, "nd")
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprint(n, "rd")
	}
	return fmt.Sprint(n, "th")
}

// Off says why nothing is learnt from turns, "" where something is.
func Off(m *memory.Memory) string {
	if d, open := switches(m, Turn{Session: "x"}); !open {
		return d.Reason
	}
	return ""
}
