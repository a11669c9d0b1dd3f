package diagnostics

import (
	"context"
	"sync"

	"mem/core/agentmem"
)

// Team is the other side of a memory that a team shares through a snapshot in git. It
// compares both sides when it is first asked, and keeps that.
type Team struct {
	Shared *agentmem.Shared
	// InSnapshot says that the directory under check is the snapshot, not the memory.
	InSnapshot bool

	over map[string]string

	mu   sync.Mutex
	done bool
	r    *agentmem.Review
	err  error
}

// NewTeam gives the other side. over are texts by path that stand in place of files of
// the memory.
func NewTeam(s *agentmem.Shared, inSnapshot bool, over map[string]string) *Team {
	return &Team{Shared: s, InSnapshot: inSnapshot, over: over}
}

// Review gives how both sides stand to each other, nil where there is no other side or
// no snapshot.
func (t *Team) Review(ctx context.Context) (*agentmem.Review, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done {
		r, err := t.Shared.Review(ctx, t.over)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.done, t.err = true, err
		if err == nil && r.Status.State != agentmem.StateNone {
			t.r = r
		}
	}
	return t.r, t.err
}
