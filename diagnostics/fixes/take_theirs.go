package fixes

import (
	"context"
	"errors"

	"mem/core/agentmem"
	"mem/core/change"
	"mem/diagnostics"
)

// TakeTheirs is the ID of the fix. The argument of an offer is the topic, and the part of
// it where only that is meant.
const TakeTheirs = "take-theirs"

func takeTheirs() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      TakeTheirs,
		Summary: "Takes what the team has, of a topic or a part of it.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Make:    take(agentmem.TakeTheirs),
	}
}

// take gives what makes a decision about news of the team that changes the memory.
func take(c agentmem.Choice) func(context.Context, *diagnostics.Snapshot, diagnostics.Finding, string) (change.Change, error) {
	return func(ctx context.Context, s *diagnostics.Snapshot, _ diagnostics.Finding, arg string) (change.Change, error) {
		r, err := s.Team.Review(ctx)
		if err != nil {
			return change.Change{}, err
		}
		if r == nil {
			return change.Change{}, errors.New("there is no snapshot any more")
		}
		path, part := diagnostics.PartOf(arg)
		made, err := r.Take(ctx, path, part, c)
		if err == nil && made.Empty() {
			err = errors.New("there is nothing to take any more")
		}
		return made, err
	}
}
