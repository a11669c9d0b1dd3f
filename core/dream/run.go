package dream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mem/core/engine"
	"mem/core/fork"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/work"
)

// WallLimit ends a run, well before its lock is stale.
const WallLimit = 30 * time.Minute

// RunOptions says how a dream runs.
type RunOptions struct {
	Start Start
	// Job is the id of its record, "" without one.
	Job string
	// Fixer mends by rules.
	Fixer Fixer
	// Policy is what happens to the result; "" is what the settings say.
	Policy proposal.Policy
	// DryRun looks and proposes nothing: only the report of the part without a model comes
	// back.
	DryRun bool
	// House and Record let an agent think: who does is chosen by the house, what it does is
	// in the record. Without them the run does without a model.
	House  *work.House
	Record *job.Run
	// Session is the one that asked, "" for that of the environment. It is no news.
	Session string
}

// Ran is what a dream came to.
type Ran struct {
	Gates *Gates `json:"gates"`
	// Closed is the gate that kept it from beginning; then nothing else is said.
	Closed *Gate `json:"closed,omitempty"`
	DryRun bool  `json:"dryRun,omitempty"`
	// Queued says that the agent of the next conversation is to do it: nobody else may.
	Queued bool `json:"queued,omitempty"`
	// Report is nil where nothing was begun.
	Report *Report `json:"report,omitempty"`
	// Change is the id of what was applied, for memory_undo; "" for nothing.
	Change string `json:"change,omitempty"`
	// Proposals wait for a person.
	Proposals  []string      `json:"proposals,omitempty"`
	Waiting    int           `json:"unitsWaiting,omitempty"`
	Superseded []string      `json:"superseded,omitempty"` // earlier proposals
	Refused    []job.Refused `json:"refused,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
}

// Run dreams: gates, lock, the part without a model, an agent where one is there, and the
// result by the policy. That a gate is closed is no error. When it fails or ctx ends, the
// lock is as it was before, and memory is untouched or has all of what was applied.
func Run(ctx context.Context, m *memory.Memory, o RunOptions) (*Ran, error) {
	s := Of(m)
	if o.Session != "" {
		s.Session = o.Session
	}
	gates, err := s.Check(ctx, o.Start, false)
	if err != nil {
		return nil, err
	}
	out := &Ran{Gates: gates, DryRun: o.DryRun, Notes: slices.Clone(gates.Notes)}
	if c := gates.Closed(); c != nil {
		out.Closed = c
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, WallLimit)
	defer cancel()
	if o.DryRun {
		work, err := s.mechanical(ctx, m, o)
		if err != nil {
			return nil, err
		}
		work.told(s.policy(o))
		out.Report = work.Report
		return out, nil
	}
	choice, queued := s.choose(o, out)
	if queued {
		return out, nil
	}
	held, err := s.Lock().Take(o.Job, s.stillDue(o.Start))
	var busy *BusyError
	var due *NotDueError
	switch {
	case errors.As(err, &busy):
		return out.closed(GateLock, err), nil
	case errors.As(err, &due):
		return out.closed(GateTime, err), nil
	case err != nil:
		return nil, err
	}
	out.Notes = append(out.Notes, held.Notes...)
	if choice.Engine != nil {
		err = s.agent(ctx, m, o, choice, held.Last, out)
	} else {
		err = s.work(ctx, m, o, out)
	}
	if err != nil {
		return nil, errors.Join(err, held.Rollback())
	}
	return out, held.Done()
}

// choose says who thinks. What an engine lacks is noted: then the run does without.
func (s Setting) choose(o RunOptions, out *Ran) (c engine.Choice, queued bool) {
	if o.House == nil || o.Record == nil {
		return engine.Choice{Name: fork.None}, false
	}
	c = o.House.Choose(o.Start != Explicit)
	o.Record.Progress(func(r *job.Record) {
		r.Engine, r.Detail, r.Why, r.Phase = c.Name, c.Detail, c.Why, work.PhaseStarting
		if c.Engine == nil && c.Name != fork.Host {
			r.Engine = fork.None
		}
	})
	switch {
	case c.Engine != nil:
	case c.Name == fork.Host:
		out.Queued = true
		out.Notes = append(out.Notes, "It waits for the agent of the next conversation: "+c.Why+".")
		return c, true
	case c.Missing != "":
		out.Notes = append(out.Notes, "Without a model: "+c.Missing+".")
	case len(c.Skipped) > 0:
		var why []string
		for _, x := range c.Skipped {
			why = append(why, x.Engine+": "+x.Reason)
		}
		out.Notes = append(out.Notes, "Without a model: "+strings.Join(why, "; ")+".")
	}
	return c, false
}

// closed says that a gate closed while the lock was taken.
func (r *Ran) closed(name string, why error) *Ran {
	g := Gate{Name: name, Reason: why.Error()}
	if i := slices.IndexFunc(r.Gates.Gates, func(g Gate) bool { return g.Name == name }); i >= 0 {
		g.Cost = r.Gates.Gates[i].Cost
		r.Gates.Gates[i] = g
	}
	r.Gates.Open, r.Closed = false, &g
	return r
}

// stillDue asks the time gate once more with the lock held: of two that saw it open, one
// may be through already.
func (s Setting) stillDue(start Start) func(time.Time) string {
	return func(last time.Time) string {
		if g := s.time(start, Standing{Last: last}); !g.Open && !g.Passed {
			return g.Reason
		}
		return ""
	}
}

func (s Setting) mechanical(ctx context.Context, m *memory.Memory, o RunOptions) (*Outcome, error) {
	v, notice, err := m.View(ctx)
	if err != nil {
		return nil, err
	}
	declined, err := proposal.Of(m).Declined(job.Dream)
	if err != nil {
		return nil, err
	}
	undone, err := proposal.Of(m).Undone(ctx, job.Dream)
	if err != nil {
		return nil, err
	}
	l := s.Config.Limits
	work, err := Mechanical(ctx, v, MechanicalOptions{Fixer: o.Fixer, Now: s.Env.Time(), Rule: s.rule(),
		Declined: func(u proposal.Unit) bool { return declined[proposal.Key(u)] || undone[proposal.Key(u)] },
		Undone:   undone.Has,
		Limits:   memdir.Limits{TopicBytes: l.TopicBytes, ScanLines: l.ScanLines, EntryLength: l.EntryLength}})
	if err != nil {
		return nil, err
	}
	work.Report.Notes = append(work.Report.Notes, notice.Notes...)
	work.Report.bound()
	return work, nil
}

// work makes the result and brings it to memory.
func (s Setting) work(ctx context.Context, m *memory.Memory, o RunOptions, out *Ran) error {
	work, err := s.mechanical(ctx, m, o)
	if err != nil {
		return err
	}
	policy := s.policy(o)
	now, wait := work.By(policy)
	shown, err := told(ctx, m, policy, now)
	if err != nil {
		return err
	}
	work.told(shown)
	r := work.Report
	out.Report = r
	store := proposal.Of(m)
	same := ""
	if len(wait) > 0 && policy != proposal.Review {
		if same, err = store.Same(job.Dream, wait); err != nil {
			return err
		}
	}
	mend := ctx
	if !slices.ContainsFunc(now, func(u proposal.Unit) bool { return u.Deletes }) {
		mend = memory.KeepTimes(ctx) // what rules mend was not touched by anybody
	}
	first, err := store.Settle(mend, proposal.Submission{Job: o.Job, Kind: job.Dream, Title: "dream: what loses nothing", Report: r.Markdown(),
		Origin: m.Origin(), Policy: policy, Units: now, Supersedes: job.Dream, Keep: same})
	if err != nil {
		return err
	}
	out.take(first)
	out.Superseded = first.Superseded
	r.waits(first.Held)
	if len(wait) == 0 {
		return nil
	}
	if same != "" && first.Proposal == nil {
		out.Proposals, out.Waiting = append(out.Proposals, same), len(wait)
		out.Notes = append(out.Notes, fmt.Sprintf("What waits is what waited before, as %s.", same))
		return nil
	}
	if same != "" { // the first half waits as well, and the second stands on it
		if _, err := store.Supersede(ctx, job.Dream, first.Proposal.ID); err != nil {
			return err
		}
		out.Superseded = append(out.Superseded, same)
	}
	of := o.Job
	if first.Proposal != nil {
		of = "" // a second result of one job would take the place of the first
		out.Notes = append(out.Notes, fmt.Sprintf("What waits in the second proposal stands on the first, %s: decide that one before.", first.Proposal.ID))
	}
	// What was applied is no longer to be cancelled, and the rest belongs to it.
	second, err := store.Settle(context.WithoutCancel(ctx), proposal.Submission{Job: of, Kind: job.Dream, Title: "dream: what to merge and to take out", Report: r.Markdown(),
		Origin: m.Origin(), Policy: proposal.Review, Units: wait})
	if err != nil {
		if first.Change == "" {
			return err
		}
		if o.Record != nil {
			o.Record.Progress(func(r *job.Record) { r.Change = first.Change })
		}
		return fmt.Errorf("what waits for you could not be kept, and the next dream finds it again: %w. What loses nothing was applied before, as %s; mem-mcp undo takes it back", err, first.Change)
	}
	out.take(second)
	return nil
}

func (r *Ran) take(s *proposal.Settled) {
	if s.Change != "" {
		r.Change = s.Change
	}
	if s.Proposal != nil {
		r.Proposals = append(r.Proposals, s.Proposal.ID)
	}
	r.Waiting += len(s.Held)
	r.Refused = append(r.Refused, s.Refused...)
	r.Notes = append(r.Notes, s.Notes...)
	if len(s.Held) == 0 {
		return
	}
	u := s.Held[0]
	what := number(len(s.Held), "part")
	if slices.ContainsFunc(s.Held, func(x proposal.Unit) bool { return x.Note != u.Note }) {
		what = memdir.Shown(u.Title, maxTitle)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s: %s", what, memdir.Shown(u.Note, maxItemText)))
}
