package sessions

import (
	"context"
	"errors"

	"mem/core/transcript"
)

// Find finds a session by its id, the beginning of it, or Latest. "" is the session that
// this process belongs to, as its client's environment says, else the newest one. own
// reports that it is the one of this process. Notes say what else to know.
func (s *Sessions) Find(ctx context.Context, ref string) (x *transcript.Session, own bool, notes []string, err error) {
	mine := s.env.Getenv("CLAUDE_CODE_SESSION_ID")
	if ref == "" && mine != "" {
		p, err := s.pick(ctx, mine, nil)
		if err == nil && p.ID == mine {
			return p.Session, true, p.notes, nil
		}
		var missing *transcript.NotFoundError
		if err != nil && !errors.As(err, &missing) {
			return nil, false, nil, err
		}
	}
	if ref == "" {
		ref = Latest
	}
	p, err := s.pick(ctx, ref, nil)
	if err != nil {
		return nil, false, nil, err
	}
	return p.Session, p.ID == mine && mine != "", p.notes, nil
}
