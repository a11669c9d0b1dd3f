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
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/work"
)

// Params are those of the record of a dream.
type Params struct {
	Version int   `json:"v"`
	Start   Start `json:"start,omitempty"` // "" is Explicit
	// Policy is what happens to the result; "" is what the settings say.
	Policy proposal.Policy `json:"policy,omitempty"`
	// Claims are what was mended before a host got it.
	Claims []claim `json:"mended,omitempty"`
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
	claims, err := prepare(ctx, st, first)
	if err != nil {
		return nil, drop(err)
	}
	if err := st.Keep(); err != nil {
		return nil, drop(err)
	}
	p, err := ParamsOf(r)
	if err != nil {
		return nil, drop(err)
	}
	p.Claims = claims
	raw, err := p.Encode()
	if err != nil {
		return nil, drop(err)
	}
	_, err = h.Jobs.Update(r.ID, func(r *job.Record) error {
		if r.State != job.Queued && r.State != job.Waiting {
			return fmt.Errorf("the job %s is %s meanwhile", r.ID, r.State)
		}
		r.State, r.Engine, r.Started, r.Params, r.Sessions = job.Waiting, fork.Host, m.Now(), raw, x.ids()
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

// Finish is the proposal.Finisher of dreams: what a host handed in becomes units like
// those of any dream, and counts as one.
func Finish(ctx context.Context, m *memory.Memory, r job.Record, sub proposal.Submitted) (_ *proposal.Finished, err error) {
	s := Of(m)
	if g := s.master(Explicit); !g.Open && !g.Passed {
		return nil, errors.New(g.Reason)
	}
	p, err := ParamsOf(&r)
	if err != nil {
		return nil, err
	}
	held, err := s.Lock().Take(r.ID, nil)
	if err != nil {
		return nil, err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, held.Rollback())
		}
	}()
	st, err := stage.Open(ctx, m, r.ID)
	if err != nil {
		return nil, err
	}
	res, err := proposal.Staged(ctx, st, sub)
	if err != nil {
		for _, f := range sub.Files {
			err = errors.Join(err, st.Restore(f.Path))
		}
		return nil, err
	}
	claims, said := claimsOf(sub.Report)
	for _, f := range sub.Files {
		if f.Reason != "" {
			claims = append(claims, claim{Files: []string{f.Path}, Why: memdir.Shown(f.Reason, maxItemText)})
		}
	}
	x := resultOf(res.Change, append(claims, p.Claims...))
	units := x.units()
	o := RunOptions{Job: r.ID, Policy: p.Policy}
	out := &Ran{Report: s.reportOf(x, units, s.policy(o), &Report{}, fork.Host)}
	if said != "" {
		out.Report.Notes = append(out.Report.Notes, "The agent says: "+memdir.Shown(said, maxSaidText))
	}
	out.Report.bound()
	settled, err := proposal.Of(m).Settle(ctx, proposal.Submission{Job: r.ID, Kind: job.Dream, Title: "dream: by the agent", Report: out.Report.Markdown(),
		Origin: r.Session, Policy: s.policy(o), Units: units, Supersedes: job.Dream})
	if err != nil {
		return nil, err
	}
	fin := &proposal.Finished{Settled: settled, Findings: res.Findings}
	if n := len(settled.Superseded); n > 0 {
		fin.Notes = append(fin.Notes, fmt.Sprintf("It takes the place of %s of earlier dreams that nobody decided.", number(n, "proposal")))
	}
	if err := st.Close(); err != nil {
		fin.Notes = append(fin.Notes, err.Error())
	}
	held.Since(r.Started)
	done = true
	if err := held.Done(); err != nil { // the result is stored: it is not to be handed in again
		fin.Notes = append(fin.Notes, "That the dream was done could not be recorded: "+err.Error())
	}
	return fin, nil
}
