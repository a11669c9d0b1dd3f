package cli

import (
	"context"
	"errors"

	"mem/core/extract"
	"mem/core/hook"
	"mem/core/job"
	"mem/core/memory"
)

func init() {
	jobKinds[job.Extract] = jobKind{
		after: func(*app) hook.Afterwards { return afterExtract{} },
		run: func(ctx context.Context, a *app, m *memory.Memory, jobs *job.Jobs, r *job.Run) error {
			err := extract.Run(ctx, a.house(m, jobs), r)
			if errors.Is(err, extract.ErrBusy) {
				return r.End(job.Done, func(x *job.Record) { x.Reason = err.Error() })
			}
			return err
		},
	}
}

// afterExtract asks at the end of a turn whether an extraction starts.
type afterExtract struct{}

func (afterExtract) Check(_ context.Context, c hook.Case) ([]job.Record, []string, error) {
	turn := extract.Turn{Session: c.Turn.Session, Transcript: c.Turn.Transcript, Agent: c.Turn.Agent, Over: c.Turn.Event == hook.SessionEnd}
	d, err := extract.Ended(c.Memory, turn, c.Asked)
	if err != nil || !d.Run {
		return nil, []string{d.Reason}, err
	}
	return []job.Record{{Kind: job.Extract, By: "hook", Session: c.Turn.Session}}, []string{d.Reason}, nil
}
