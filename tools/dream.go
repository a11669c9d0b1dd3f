package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/memdir"
)

// What the tools for dreams have in common.

// waitEvery is how often a call that waits looks at its job.
const waitEvery = 100 * time.Millisecond

// dreamJob gives a dream by its id, or the one that waits or is under way.
func (t target) dreamJob(ref string) (*job.Record, error) {
	if ref == "" {
		r, err := dream.Open(t.jobs())
		if err == nil && r == nil {
			return nil, errors.New("no dream is under way on this memory, and none waits; dream_history lists those that are over")
		}
		return r, err
	}
	r, err := t.jobs().Get(ref)
	if err == nil && r.Kind != job.Dream {
		return nil, fmt.Errorf("the job %s is no dream but one of the kind %s", r.ID, memdir.Shown(r.Kind, 40))
	}
	return r, err
}

// follow waits until a dream is over, and tells the client how far it is.
func (t target) follow(ctx context.Context, r *job.Record) (*job.Record, error) {
	tell := progress(ctx)
	for !r.State.Final() && (r.State == job.Running || r.Process != 0) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(waitEvery):
		}
		var err error
		if r, err = t.jobs().Get(r.ID); err != nil {
			return nil, err
		}
		if tell != nil {
			tell("turns of the dream", int64(r.Turns), dream.Turns)
		}
	}
	return r, nil
}

// shownDream is a dream in a result.
type shownDream struct {
	shownJob
	Phase string `json:"phase,omitempty"`
}

func (t target) shownDream(r *job.Record) *shownDream { return &shownDream{t.job(r), r.Phase} }

func dreamSchema() schema {
	return jobSchema().with(opt("phase", str("starting: it looks around; updating: it changes its copy.")))
}
