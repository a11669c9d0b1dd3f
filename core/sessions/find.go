package sessions

import (
	"context"
	"errors"

	"mem/core/transcript"
)

// Find finds a session by its id, the beginning of it, or Latest. "" is the session that
// this process belongs to, as its client's environment says, else the newest one. own
// reports that it is the one of this process. Notes say what else to know.
func (s *Sessions) Find(ctx context.Context, ref string, p Progress) (x *transcript.Session, own bool, notes []string, err error) {
	defer s.clean(&err)
	mine := s.env.Getenv("CLAUDE_CODE_SESSION_ID")
	if ref == "" && mine != "" {
		x, err := s.pick(ctx, mine, p)
		if err == nil && x.ID == mine {
			return x.Session, true, x.notes, nil
		}
		var missing *transcript.NotFoundError
		if err != nil && !errors.As(err, &missing) {
			return nil, false, nil, err
		}
	}
	if ref == "" {
		ref = Latest
	}
	found, err := s.pick(ctx, ref, p)
	if err != nil {
		return nil, false, nil, err
	}
	return found.Session, found.ID == mine && mine != "", found.notes, nil
}
