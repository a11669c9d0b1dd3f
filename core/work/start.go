package work

import (
	"context"
	"errors"
	"fmt"
	"os"

	"mem/core/fork"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/settings"
)

// Starter starts a process that runs a job, and gives its pid.
type Starter func(m *memory.Memory, jobs *job.Jobs, r *job.Record) (pid int, err error)

// Launch creates a record and has a process of its own run it. Where none can be started
// the record says so.
func (h *House) Launch(r job.Record, start Starter) (*job.Record, error) {
	if err := Inside(h.Memory.Env()); err != nil {
		return nil, err
	}
	made, err := h.Jobs.Create(r)
	if err != nil {
		return nil, err
	}
	pid, err := start(h.Memory, h.Jobs, made)
	if err != nil {
		_, noted := h.Jobs.Update(made.ID, func(r *job.Record) error {
			r.State, r.Ended, r.Reason = job.Failed, h.Memory.Env().Time(), err.Error()
			return nil
		})
		return nil, errors.Join(fmt.Errorf("starting the job %s: %w", made.ID, err), noted)
	}
	// So that a process that dies before it begins is noticed.
	return h.Jobs.Update(made.ID, func(r *job.Record) error {
		if r.State == job.Queued && r.Process == 0 {
			r.Process, r.ProcessStart = pid, job.ProcessStart(pid)
		}
		return nil
	})
}

// Inside says that this process belongs to a forked agent, where no job starts; nil where
// it does not.
func Inside(env settings.Env) error {
	if fork.Inside(env) {
		return fmt.Errorf("%s is set: no job starts inside of a forked agent", fork.EnvInside)
	}
	return nil
}

// Here creates a record that this process runs, and gives its body: the run of f, which
// ends the record by its error unless it did. It has the process in it already, so that
// nobody else takes it.
func (h *House) Here(r job.Record, f func(ctx context.Context, run *job.Run) error) (*job.Record, func(ctx context.Context) error, error) {
	if err := Inside(h.Memory.Env()); err != nil {
		return nil, nil, err
	}
	r.Process, r.ProcessStart = os.Getpid(), job.ProcessStart(os.Getpid())
	made, err := h.Jobs.Create(r)
	if err != nil {
		return nil, nil, err
	}
	return made, func(ctx context.Context) (err error) {
		ctx, run, err := h.Jobs.Begin(ctx, made.ID)
		if err != nil {
			return err
		}
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("a fault of mem, please report it: %v", p)
			}
			state, reason := job.Done, ""
			switch {
			case err != nil && ctx.Err() != nil:
				state, reason = job.Cancelled, "cancelled"
			case err != nil:
				state, reason = job.Failed, err.Error()
			}
			var ended *job.EndedError
			if e := run.End(state, func(r *job.Record) { r.Reason = reason }); e != nil && !errors.As(e, &ended) {
				err = errors.Join(err, e)
			}
		}()
		return f(ctx, run)
	}, nil
}
