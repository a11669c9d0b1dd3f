package proposal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
	"mem/core/text"
)

// File is one file of what a host hands back.
type File struct {
	Path   string
	Text   string // the whole new text
	Delete bool
	// BaseHash is that of the text which the host changed; "" for a new file.
	BaseHash string
	Reason   string
}

// Submitted is what a host hands back for a job that was given to it.
type Submitted struct {
	Job    string // id, or the beginning of one
	Files  []File
	Report string
}

// Bounds of a submission.
const (
	maxFiles     = 500
	maxSubmitted = 16 << 20 // bytes of all texts
)

// Finished is what became of a submission.
type Finished struct {
	Job      *job.Record
	Settled  *Settled // nil where the kind of job leaves no change of memory
	Findings []stage.Finding
	Notes    []string
}

// Finisher ends a job of one kind with what a host handed back: it checks the files,
// brings them to memory, and moves what the kind has to move. The job is marked as
// running while it does. When it fails, the job waits as before; a *RejectedError says
// that the host can do better.
type Finisher func(ctx context.Context, m *memory.Memory, r job.Record, s Submitted) (*Finished, error)

// RejectedError says why a submission was not taken. Nothing changed, and the job still
// waits for a better one.
type RejectedError struct {
	Job     string
	Refused []job.Refused
}

func (e *RejectedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the submission was not taken, and nothing was changed. The job %s still waits: put right what follows and submit all of it again.", e.Job)
	for i, r := range e.Refused {
		if i == 10 {
			fmt.Fprintf(&b, " And %d more.", len(e.Refused)-i)
			break
		}
		fmt.Fprintf(&b, " %s: %s.", r.What, strings.TrimSuffix(r.Reason, "."))
	}
	return b.String()
}

// Submit ends a job that waits for a host with what the host hands back. A job takes one
// submission. by has the finishers of kinds that need more than Finish does.
func Submit(ctx context.Context, m *memory.Memory, jobs *job.Jobs, s Submitted, by map[string]Finisher) (*Finished, error) {
	size := 0
	for _, f := range s.Files {
		size += len(f.Text)
	}
	if len(s.Files) > maxFiles || size > maxSubmitted {
		return nil, fmt.Errorf("a submission has at most %d files and %d bytes; this one has %d and %d. Nothing was changed", maxFiles, maxSubmitted, len(s.Files), size)
	}
	p := Of(m)
	s.Report = p.said(s.Report, maxReport)
	s.Files = slices.Clone(s.Files)
	for i := range s.Files {
		s.Files[i].Reason = bounded(p.said(s.Files[i].Reason, maxReport), maxReason)
	}
	var before job.Record
	r, err := jobs.Update(s.Job, func(r *job.Record) error {
		if err := awaits(r); err != nil {
			return err
		}
		before = *r
		r.State, r.Process, r.ProcessStart = job.Running, os.Getpid(), job.ProcessStart(os.Getpid())
		if r.Started.IsZero() {
			r.Started = m.Now()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.Job = r.ID
	finish := by[r.Kind]
	if finish == nil {
		finish = Finish
	}
	out, err := finish(ctx, m, *r, s)
	if err != nil {
		_, back := jobs.Update(r.ID, func(r *job.Record) error {
			r.State, r.Process, r.ProcessStart, r.Started = before.State, before.Process, before.ProcessStart, before.Started
			return nil
		})
		return nil, errors.Join(err, back)
	}
	out.Job, err = jobs.Update(r.ID, func(r *job.Record) error {
		r.State, r.Ended, r.Process, r.ProcessStart = job.Done, m.Now(), 0, ""
		r.End, r.Report = "done", s.Report
		if t := out.Settled; t != nil {
			r.Change = t.Change
			r.Refused = append(r.Refused, t.Refused...)
			if t.Proposal != nil {
				r.Proposal = t.Proposal.ID
			}
		}
		for _, f := range out.Findings {
			r.Refused = append(r.Refused, job.Refused{What: memdir.ShownName(f.Path), Reason: "let through, to be looked at: " + memdir.Shown(f.Reason, 600)})
		}
		for _, f := range s.Files {
			r.Touched = append(r.Touched, memdir.ShownName(f.Path))
		}
		return nil
	})
	return out, err
}

// awaits says why a job takes no submission, nil when it does.
func awaits(r *job.Record) error {
	switch {
	case r.State == job.Waiting || r.State == job.Queued:
		return nil
	case r.State == job.Running:
		return fmt.Errorf("a process works on the job %s; it takes no submission", r.ID)
	case r.State == job.Done:
		return fmt.Errorf("the job %s is done; a job takes one submission", r.ID)
	}
	return fmt.Errorf("the job %s is over (%s); start it anew", r.ID, r.State)
}

// Finish is the Finisher of jobs that work on a stage: it holds what the host handed
// back to the rules of the stage that was made for the job, and settles it by the policy
// that the settings have for its kind.
func Finish(ctx context.Context, m *memory.Memory, r job.Record, s Submitted) (*Finished, error) {
	st, err := stage.Open(ctx, m, r.ID)
	if err != nil {
		return nil, err
	}
	res, err := Staged(ctx, st, s)
	if err != nil {
		return nil, errors.Join(err, restore(context.WithoutCancel(ctx), m, s))
	}
	units := Split(res.Change)
	for i := range units {
		for _, f := range s.Files {
			if touches(units[i].Change, f.Path) && f.Reason != "" && units[i].Reason == "" && (len(units[i].Change.Files) == 1 || units[i].is(f.Path)) {
				units[i].Reason = f.Reason
			}
		}
	}
	settled, err := Of(m).Settle(ctx, Submission{Job: r.ID, Kind: r.Kind, Title: r.Kind + " by the agent", Report: s.Report,
		Origin: r.Session, Policy: PolicyOf(m.Config, r.Kind), Units: units})
	if err != nil {
		return nil, errors.Join(err, restore(context.WithoutCancel(ctx), m, s))
	}
	out := &Finished{Settled: settled, Findings: res.Findings}
	if err := st.Close(); err != nil {
		out.Notes = append(out.Notes, err.Error())
	}
	return out, nil
}

// Staged puts what a host handed back into the stage of its job, and gives the change
// that it is. Anything that may not be makes it a *RejectedError.
func Staged(ctx context.Context, st *stage.Stage, s Submitted) (*stage.Result, error) {
	no := &RejectedError{Job: s.Job}
	refuse := func(p, reason string) {
		no.Refused = append(no.Refused, job.Refused{What: memdir.ShownName(p), Reason: memdir.Shown(reason, 600)})
	}
	seen := map[string]string{}
	for _, f := range s.Files {
		// Where letter case counts for nothing, the second would be written over the first.
		if other, ok := seen[stage.Fold(f.Path)]; ok {
			refuse(f.Path, "is there twice, as "+memdir.ShownName(other)+": on some systems these are one file")
			continue
		}
		seen[stage.Fold(f.Path)] = f.Path
		if err := based(st, f); err != nil {
			refuse(f.Path, err.Error())
			continue
		}
		var err error
		if f.Delete {
			err = st.Remove(f.Path)
		} else {
			err = st.Put(f.Path, f.Text)
		}
		if err != nil {
			refuse(f.Path, err.Error())
		}
	}
	if len(no.Refused) > 0 {
		return nil, no
	}
	res, err := st.Result(ctx)
	if err != nil {
		return nil, err
	}
	if no.Refused = res.Refused; len(no.Refused) > 0 {
		return nil, no
	}
	return res, nil
}

// based makes sure that a host changed the text that it says: the one of its job, or the
// one that the memory has now.
func based(st *stage.Stage, f File) error {
	base, known := st.Base(f.Path)
	switch {
	case known && f.BaseHash == text.Hash(base):
		return nil
	case known && f.BaseHash == "":
		return errors.New("it exists, so give base_hash: the hash of the text that you changed")
	case !known && f.BaseHash == "":
		return nil
	}
	if err := st.MayWrite(f.Path); err != nil {
		return err
	}
	ok, err := st.Rebase(f.Path, f.BaseHash)
	if err != nil || ok {
		return err
	}
	if !known {
		return errors.New("it did not exist when the job began, and has no text of this base_hash now; leave base_hash out for a new file")
	}
	return fmt.Errorf("base_hash is neither that of the text that the job began with, %s, nor that of the text that is there now; read it again", text.Hash(base))
}

// restore puts the files of a submission back, so that the next one starts as this did.
func restore(ctx context.Context, m *memory.Memory, s Submitted) error {
	st, err := stage.Open(ctx, m, s.Job)
	if err != nil {
		return err
	}
	for _, f := range s.Files {
		err = errors.Join(err, st.Restore(f.Path))
	}
	return err
}

// PolicyOf gives what the settings say happens to the result of a kind of job. What
// comes from a team is always looked at.
func PolicyOf(c settings.Config, kind string) Policy {
	switch kind {
	case job.Extract:
		return Policy(c.Jobs.Extract.Policy)
	case job.Dream:
		return Policy(c.Jobs.Dream.Policy)
	case job.SessionMemory:
		return Apply
	}
	return Review
}
