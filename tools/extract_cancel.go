package tools

import (
	"context"
	"errors"
	"time"

	"mem/core/extract"
	"mem/core/job"
)

// cancelWait is how long a call waits to see a job end: it is told within 200 ms and has a
// second to obey.
const cancelWait = 2 * time.Second

func extractCancel() spec {
	return spec{
		name:        "extract_cancel",
		title:       "End a run of learning",
		description: "Ends a job of extract_start, whoever runs it: the one that runs now, unless told. Nothing of its work is kept; the session is looked at again when its next turn ends.",
		in:          schema{opt("job", str("Id, or the beginning of one.")), storeArg()},
		out:         schema{req("job", jobSchema().nested(""))},
		destructive: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Job string `json:"job"`
		}) (answer, error) {
			ref := a.Job
			if ref == "" {
				if ref = extract.Running(m.Memory); ref == "" {
					return answer{}, errors.New("no extraction runs on this memory; to cancel one that waits, give its id (extract_status)")
				}
			}
			r, err := m.extraction(ref)
			if err != nil {
				return answer{}, err
			}
			if r.State.Final() {
				return answer{}, errors.New("the job " + r.ID + " is over already: " + string(r.State))
			}
			if r, err = m.cancelled(ctx, r); err != nil {
				return answer{}, err
			}
			x := m.job(r)
			return answer{struct {
				Job shownJob `json:"job"`
			}{x}, x.words()}, nil
		}),
	}
}

// cancelled tells a job to end, and waits a moment for it.
func (t target) cancelled(ctx context.Context, r *job.Record) (*job.Record, error) {
	jobs := t.jobs()
	r, err := jobs.Cancel(r.ID)
	for end := time.Now().Add(cancelWait); err == nil && !r.State.Final() && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		r, err = jobs.Get(r.ID)
	}
	return r, err
}
