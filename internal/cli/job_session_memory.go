package cli

import (
	"context"
	"encoding/json"
	"errors"

	"mem/core/hook"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/sessionmem/update"
)

func init() {
	jobKinds[job.SessionMemory] = jobKind{
		after: func(*app) hook.Afterwards { return afterSessionMemory{} },
		run: func(ctx context.Context, a *app, m *memory.Memory, jobs *job.Jobs, r *job.Run) error {
			rec := r.Record()
			p, err := update.DecodeParams(&rec)
			if err != nil {
				return err
			}
			words, err := update.Run(ctx, a.house(m, jobs), r, update.At(m, rec.Session, p.Transcript, ""), p.Asked)
			if errors.Is(err, update.ErrBusy) {
				words, err = err.Error(), nil
			}
			if err != nil {
				return err
			}
			return r.End(job.Done, func(x *job.Record) { x.Report = words })
		},
	}
}

// afterSessionMemory asks after every batch of tools and at the end of a turn whether the
// memory of the session is due.
type afterSessionMemory struct{}

func (afterSessionMemory) Check(ctx context.Context, c hook.Case) ([]job.Record, []string, error) {
	d, err := update.Check(ctx, c.Memory, update.At(c.Memory, c.Turn.Session, c.Turn.Transcript, c.Turn.Agent), c.Asked)
	if err != nil || !d.Due {
		return nil, []string{d.Reason}, err
	}
	p, err := json.Marshal(update.Params{Version: 1, Transcript: c.Turn.Transcript})
	if err != nil {
		return nil, nil, err
	}
	return []job.Record{{Kind: job.SessionMemory, By: "hook", Session: c.Turn.Session, Params: p}}, []string{d.Reason}, nil
}
