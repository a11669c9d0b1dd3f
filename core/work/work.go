// Package work runs a job of a memory by a forked agent: the memory is staged, the
// agent works on the copy behind the gate, and what it left becomes a change that is
// applied or waits, by policy. Jobs say what is to be done; everything that bounds an
// agent is here, once.
package work

import (
	"context"
	"errors"
	"fmt"

	"mem/core/engine"
	"mem/core/fork"
	"mem/core/fork/gate"
	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/model"
	"mem/core/proposal"
)

// House is what the jobs of one memory share.
type House struct {
	Memory    *memory.Memory
	Jobs      *job.Jobs
	Proposals *proposal.Proposals
	// Choose says who thinks; automatic runs take nobody who costs money unless the
	// configuration names them.
	Choose func(automatic bool) engine.Choice
}

// Order says what an agent is to do.
type Order struct {
	Session string // that new topics name as their origin
	System  string
	Shared  []model.Message // the conversation that it inherits
	Prompt  string
	LogOnly string       // the daily log that may be appended to, where nothing else may change
	Mounts  []gate.Mount // what it may read besides the memory
	Limits  fork.Limits
	// Prepare changes the copy before the agent sees it; nil leaves it as it is.
	Prepare func(ctx context.Context, s *stage.Stage) error
	// EmptyDeletes says that a topic which the agent leaves empty is one that it deletes: no
	// tool of an agent removes files.
	EmptyDeletes bool
}

// Done is what became of an order.
type Done struct {
	*fork.Outcome
	Result *stage.Result
}

// Whole reports whether the agent was through with its work. What it left otherwise is
// not applied.
func (d *Done) Whole() bool { return d.End == fork.EndDone }

// Phases of a record: an agent looks around first, and then changes files.
const (
	PhaseStarting = "starting"
	PhaseUpdating = "updating"
)

// maxLast is how many of the last turns a record holds, and of what length.
const (
	maxLast    = 8
	maxLine    = 200
	maxTouched = 200
)

// Agent lets an agent work on a copy of the memory. What it did is in the record of the
// run; nothing of it is in the memory yet.
func (h *House) Agent(ctx context.Context, run *job.Run, c engine.Choice, o Order) (_ *Done, err error) {
	s, err := stage.Make(ctx, h.Memory, stage.Options{Job: run.ID(), Origin: o.Session, LogOnly: o.LogOnly})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.Prepare != nil {
		if err := o.Prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	o.Mounts = append([]gate.Mount{h.mount(s.Dir(), s.MayWrite)}, o.Mounts...)
	out, err := h.Loose(ctx, run, c, o, s.Dir())
	if err != nil {
		return nil, err
	}
	d := &Done{Outcome: out, Result: &stage.Result{}}
	if out.End == fork.EndCancelled || out.End == fork.EndFailed {
		return d, nil
	}
	if o.EmptyDeletes {
		if err := dropEmptied(s); err != nil {
			return nil, err
		}
	}
	if d.Result, err = s.Result(ctx); err != nil {
		return nil, err
	}
	run.Progress(func(r *job.Record) {
		r.Refused = append(r.Refused, d.Result.Refused...)
		for _, f := range d.Result.Findings {
			r.Refused = append(r.Refused, job.Refused{What: "let through: " + memdir.ShownName(f.Path), Reason: f.Reason})
		}
	})
	return d, nil
}

// mount is the memory, or a copy of it, as agents see it.
func (h *House) mount(dir string, write func(string) error) gate.Mount {
	l := h.Memory.Location
	return gate.Mount{Name: "memory", Dir: dir, Write: write, Aliases: []string{l.Directory, l.Real}}
}

// ReadOnly is the memory itself, to be read. It is false while its directory does not exist.
func (h *House) ReadOnly() (gate.Mount, bool) {
	l := h.Memory.Location
	return h.mount(l.Real, nil), l.Exists
}

// Loose lets an agent work on the mounts of an order, of which dir is the folder that it
// may change. What it did is in the record of the run.
func (h *House) Loose(ctx context.Context, run *job.Run, c engine.Choice, o Order, dir string) (_ *fork.Outcome, err error) {
	if c.Engine == nil {
		return nil, fmt.Errorf("the engine %s does not run by itself: %s", c.Name, c.Why)
	}
	g, err := gate.New(gate.Options{Mounts: o.Mounts, Now: h.Memory.Env().Now, Redact: h.Memory.Guard()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	before := run.Record()
	mount := ""
	for _, m := range o.Mounts {
		if m.Dir == dir {
			mount = m.Name
		}
	}
	out, err := c.Engine.Run(ctx, fork.Task{
		Job: run.ID(), Kind: before.Kind, Memory: h.Memory.Location.Directory, System: o.System, Shared: o.Shared, Prompt: o.Prompt,
		Tools: g, Stage: dir, Mount: mount, Limits: o.Limits,
		Progress: func(p fork.Progress) { run.Progress(func(r *job.Record) { follow(r, &before, p) }) },
	})
	if err != nil {
		return nil, err
	}
	run.Progress(func(r *job.Record) { finish(r, &before, out) })
	return out, nil
}

// follow puts the progress of a run into its record; before is what it had when the run
// began, since a job may have several.
func follow(r, before *job.Record, p fork.Progress) {
	r.Turns, r.Calls = before.Turns+p.Turn, before.Calls+p.ToolCalls
	r.Usage = before.Usage.Add(p.Usage)
	touched(r, p.Touched)
	if r.Phase == PhaseStarting && len(p.Touched) > 0 {
		r.Phase = PhaseUpdating
	}
	lines := []string{}
	if p.Text != "" {
		lines = append(lines, memdir.Shown(p.Text, maxLine))
	}
	for _, c := range p.Calls {
		lines = append(lines, memdir.Shown(c, maxLine))
	}
	r.Last = append(r.Last, lines...)
	if n := len(r.Last) - maxLast; n > 0 {
		r.Last = r.Last[n:]
	}
}

func finish(r, before *job.Record, out *fork.Outcome) {
	r.Turns, r.Calls = before.Turns+out.Turns, before.Calls+out.ToolCalls
	r.Usage = before.Usage.Add(out.Usage)
	r.End, r.Reason = string(out.End), out.Reason
	if out.Model != "" {
		r.Detail = out.Model
	}
	touched(r, out.Touched)
	for _, x := range out.Refused {
		r.Refused = append(r.Refused, job.Refused{What: fmt.Sprintf("%s in turn %d: %s", x.Tool, x.Turn, x.Input), Reason: x.Reason})
	}
}

func touched(r *job.Record, files []string) {
	for _, f := range files {
		known := len(r.Touched) >= maxTouched
		for _, t := range r.Touched {
			known = known || t == f
		}
		if !known {
			r.Touched = append(r.Touched, f)
		}
	}
}
