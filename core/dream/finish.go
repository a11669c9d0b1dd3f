package dream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mem/core/fork"
	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/proposal"
)

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
	defer func() {
		if !done { // the next submission starts as this one did
			err = errors.Join(err, st.Reset(context.WithoutCancel(ctx)))
		}
	}()
	res, made, left, err := handedIn(ctx, st, sub)
	if err != nil {
		return nil, err
	}
	claims, said := claimsOf(sub.Report)
	for _, f := range sub.Files {
		if f.Reason != "" {
			claims = append(claims, claim{Files: []string{f.Path}, Why: memdir.Shown(f.Reason, maxItemText)})
		}
	}
	x := resultOf(res.Change, append(claims, made...))
	units := x.units()
	o := RunOptions{Job: r.ID, Policy: p.Policy}
	shown, err := told(ctx, m, s.policy(o), units)
	if err != nil {
		return nil, err
	}
	if units, err = s.unitsFor(ctx, m, x, shown, units); err != nil {
		return nil, err
	}
	hold, err := takenBack(ctx, m, units)
	if err != nil {
		return nil, err
	}
	out := &Ran{Report: s.reportOf(x, units, shown, hold, &Report{}, fork.Host)}
	if said != "" {
		out.Report.Notes = append(out.Report.Notes, "The agent says: "+memdir.Shown(said, maxSaidText))
	}
	if left > 0 {
		out.Report.Notes = append(out.Report.Notes, fmt.Sprintf("%s that rules would mend: left out, since the agent changed the same. The next dream looks again.", number(left, "part")))
	}
	out.Report.bound()
	settled, err := proposal.Of(m).Settle(ctx, proposal.Submission{Job: r.ID, Kind: job.Dream, Title: "dream: by the agent", Report: out.Report.Markdown(),
		Origin: r.Session, Policy: s.policy(o), Hold: hold, Units: units, Supersedes: job.Dream})
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

// mending is what rules would mend of a memory that a host got: units on the texts that it
// reads, which are made below what it hands in.
type mending struct {
	Version int             `json:"v"`
	Units   []proposal.Unit `json:"units"`
}

const mendingVersion = 1

// attach keeps what the part without a model would apply beside a stage.
func attach(st *stage.Stage, first *Outcome) error {
	b, err := json.Marshal(mending{mendingVersion, slices.Concat(first.Apply, first.Copies)})
	if err != nil {
		return err
	}
	return st.Attach(b)
}

// mendingOf reads what attach kept.
func mendingOf(st *stage.Stage) ([]proposal.Unit, error) {
	b, err := st.Attached()
	if err != nil || b == nil {
		return nil, err
	}
	var m mending
	if err := json.Unmarshal(b, &m); err != nil || m.Version != mendingVersion {
		return nil, &stage.GoneError{Name: st.Name(), Reason: "what rules would mend cannot be read by this version of mem"}
	}
	return m.Units, nil
}

// handedIn gives what a host handed in, with what rules mend below it: each unit of that is
// merged with the host's texts, or left out as a whole, since a part of one could lose what
// it moves from one file into another.
func handedIn(ctx context.Context, st *stage.Stage, sub proposal.Submitted) (res *stage.Result, made []claim, left int, err error) {
	units, err := mendingOf(st)
	if err != nil {
		return nil, nil, 0, err
	}
	if res, err = proposal.Staged(ctx, st, sub); err != nil || len(units) == 0 {
		return res, nil, 0, err
	}
	now := map[string]*string{}
	for _, f := range sub.Files {
		if now[f.Path] = &f.Text; f.Delete {
			now[f.Path] = nil
		}
	}
	made, left, err = prepare(ctx, st, units, now)
	if err != nil {
		return nil, nil, 0, err
	}
	all, err := st.Result(ctx)
	if err != nil || len(all.Refused) == 0 {
		return all, made, left, err
	}
	// What the host made alone was taken.
	if err = st.Reset(ctx); err == nil {
		res, err = proposal.Staged(ctx, st, sub)
	}
	return res, nil, len(units), err
}
