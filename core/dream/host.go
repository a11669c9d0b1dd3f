package dream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"mem/core/fork"
	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/proposal"
	"mem/core/work"
)

// Params are those of the record of a dream.
type Params struct {
	Version int   `json:"v"`
	Start   Start `json:"start,omitempty"` // "" is Explicit
	// Policy is what happens to the result; "" is what the settings say.
	Policy proposal.Policy `json:"policy,omitempty"`
}

// paramsVersion is the version of Params.
const paramsVersion = 1

// Encode gives parameters as a record holds them.
func (p Params) Encode() (json.RawMessage, error) {
	p.Version = paramsVersion
	return json.Marshal(p)
}

// ParamsOf reads the parameters of a record; a record without any has the zero ones.
func ParamsOf(r *job.Record) (Params, error) {
	var p Params
	if len(r.Params) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(r.Params, &p); err != nil || p.Version != paramsVersion {
		return p, fmt.Errorf("the parameters of the job %s cannot be read by this version of mem. Start a new dream", r.ID)
	}
	return p, nil
}

// Open gives the dream that waits for an agent or is under way, nil where there is none.
func Open(jobs *job.Jobs) (*job.Record, error) {
	list, err := jobs.List(job.ListOptions{Kind: job.Dream, Open: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// RunJob runs the dream of a record, and ends the record unless it fails: then the error
// says why, and whoever began the run ends it.
func RunJob(ctx context.Context, h *work.House, r *job.Run, fixer Fixer) (*Ran, error) {
	rec := r.Record()
	p, err := ParamsOf(&rec)
	if err != nil {
		return nil, err
	}
	if p.Start == "" {
		p.Start = Explicit
	}
	ran, err := Run(ctx, h.Memory, RunOptions{Start: p.Start, Job: r.ID(), Fixer: fixer, Policy: p.Policy, House: h, Record: r, Session: rec.Session})
	if err != nil {
		return ran, err
	}
	state := job.Done
	if ran.Queued {
		state = job.Queued
	}
	return ran, r.End(state, func(r *job.Record) { ran.into(r) })
}

// into puts what a dream came to into its record.
func (r *Ran) into(x *job.Record) {
	x.Change, x.Phase = r.Change, ""
	switch {
	case r.Queued:
		x.Reason = ""
	case r.Closed != nil:
		x.Reason = fmt.Sprintf("nothing was begun: %s", r.Closed.Reason)
	case r.Report != nil:
		x.Report = r.Report.Markdown()
	}
	if n := len(r.Proposals); n > 0 {
		x.Proposal = r.Proposals[n-1]
	}
	for _, f := range r.Refused {
		if !hasRefused(x.Refused, f) {
			x.Refused = append(x.Refused, f)
		}
	}
	x.Refused = x.Refused[:min(len(x.Refused), maxRefused)]
}

// maxRefused is how much of what was refused a record holds.
const maxRefused = 200

func hasRefused(list []job.Refused, x job.Refused) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// Handed is a dream in the hands of a host: the calling agent.
type Handed struct {
	Job    string `json:"job"`
	Prompt string `json:"prompt"`
	// Sessions and Logs are what it is to look at.
	Sessions []string `json:"sessions"`
	Logs     []string `json:"logs"`
	Notes    []string `json:"notes,omitempty"`
}

// Hand gives a dream to a host: the one of the record with this id that waits, or, with "",
// the one that waits already, or a new one. What the host hands back to proposal_submit is
// held against the memory as it is then. No lock is held meanwhile: a host may never come
// back.
func Hand(ctx context.Context, h *work.House, id, by string, fixer Fixer) (_ *Handed, err error) {
	m := h.Memory
	s := Of(m)
	if g := s.master(Explicit); !g.Open && !g.Passed {
		return nil, errors.New(g.Reason)
	}
	r, err := waiting(h.Jobs, id, by, s.Session)
	if err != nil {
		return nil, err
	}
	standing, err := s.Lock().Standing()
	if err != nil {
		return nil, err
	}
	x, err := s.gatherSources(ctx, m, standing.Last, "")
	if err != nil {
		return nil, err
	}
	first, err := s.mechanical(ctx, m, RunOptions{Fixer: fixer})
	if err != nil {
		return nil, err
	}
	if old, err := stage.Open(ctx, m, r.ID); err == nil { // handed out before, and never handed in
		if err := old.Close(); err != nil {
			return nil, err
		}
	}
	st, err := stage.Make(ctx, m, stage.Options{Job: r.ID, Origin: m.Origin()})
	if err != nil {
		return nil, err
	}
	drop := func(err error) error { return errors.Join(err, st.Close()) }
	if err := attach(st, first); err != nil {
		return nil, drop(err)
	}
	if err := st.Keep(); err != nil {
		return nil, drop(err)
	}
	_, err = h.Jobs.Update(r.ID, func(r *job.Record) error {
		if r.State != job.Queued && r.State != job.Waiting {
			return fmt.Errorf("the job %s is %s meanwhile", r.ID, r.State)
		}
		r.State, r.Engine, r.Started, r.Sessions = job.Waiting, fork.Host, m.Now(), x.ids()
		return nil
	})
	if err != nil {
		return nil, drop(err)
	}
	a := asked{now: s.Env.Time(), since: standing.Last, x: x, first: first.Report, dailyLog: s.DailyLog, host: r.ID}
	return &Handed{Job: r.ID, Prompt: about + "\n\n" + hostTools + "\n\n" + a.instruction(), Sessions: x.ids(), Logs: append([]string{}, x.Logs...), Notes: x.Notes}, nil
}

// waiting gives the dream that a host is to have.
func waiting(jobs *job.Jobs, id, by, session string) (*job.Record, error) {
	var r *job.Record
	var err error
	if id == "" {
		r, err = Open(jobs)
	} else {
		r, err = jobs.Get(id)
	}
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return jobs.Create(job.Record{Kind: job.Dream, State: job.Queued, By: by, Session: session})
	case r.Kind != job.Dream:
		return nil, fmt.Errorf("the job %s is no dream but one of the kind %s", r.ID, memdir.Shown(r.Kind, 40))
	case r.State == job.Running || r.State == job.Queued && r.Process != 0:
		return nil, fmt.Errorf("the dream %s is under way in process %d; cancel it first, or wait until it is over", r.ID, r.Process)
	case r.State.Final():
		return nil, fmt.Errorf("the dream %s is over (%s); start a new one", r.ID, r.State)
	}
	return r, nil
}
