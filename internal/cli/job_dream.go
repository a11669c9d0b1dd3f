package cli

import (
	"context"

	"mem/core/dream"
	"mem/core/hook"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/work"
	"mem/diagnostics/mending"
)

func init() {
	jobKinds[job.Dream] = jobKind{
		after: func(*app) hook.Afterwards { return afterDream{} },
		run: func(ctx context.Context, a *app, m *memory.Memory, jobs *job.Jobs, r *job.Run) error {
			fixer, err := mending.Of(ctx, m)
			if err != nil {
				return err
			}
			_, err = dream.RunJob(ctx, a.house(m, jobs), r, fixer)
			return err
		},
	}
	finishers[job.Dream] = dream.Finish
}

// afterDream asks at the end of a turn whether a dream is due.
type afterDream struct{}

func (afterDream) Check(ctx context.Context, c hook.Case) ([]job.Record, []string, error) {
	s := dream.Of(c.Memory)
	s.Session, s.Asked = c.Turn.Session, c.Asked
	due, reasons, err := s.Due(ctx, c.Jobs)
	if err != nil || !due {
		return nil, reasons, err
	}
	params, err := dream.Params{Start: dream.Auto}.Encode()
	if err != nil {
		return nil, nil, err
	}
	return []job.Record{{Kind: job.Dream, By: "hook", Session: c.Turn.Session, Params: params, Phase: work.PhaseStarting}}, reasons, nil
}
