package dream

import (
	"context"
	"fmt"
	"time"

	"mem/core/job"
	"mem/core/memory"
	"mem/core/proposal"
)

// Status is how a memory stands to dreams.
type Status struct {
	// Gates are those of a dream by itself, all of them.
	Gates *Gates `json:"gates"`
	// Job is the dream that is under way or waits for an agent, else the last one; nil where
	// there was none.
	Job *job.Record `json:"job,omitempty"`
	// Proposals of dreams that wait for a person, newest first.
	Proposals []string `json:"proposals"`
}

// StatusOf tells how a memory stands, and changes nothing.
func StatusOf(ctx context.Context, m *memory.Memory, jobs *job.Jobs) (*Status, error) {
	s := Of(m)
	s.Asked = true
	g, err := s.Check(ctx, Auto, true)
	if err != nil {
		return nil, err
	}
	out := &Status{Gates: g, Proposals: []string{}}
	if out.Job, err = Open(jobs); err != nil {
		return nil, err
	}
	if out.Job == nil {
		last, err := History(jobs, 1)
		if err != nil {
			return nil, err
		}
		if len(last) > 0 {
			out.Job = last[0]
		}
	}
	list, _, err := proposal.Of(m).List(proposal.ListOptions{Open: true})
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Kind == job.Dream && len(out.Proposals) < maxListed {
			out.Proposals = append(out.Proposals, p.ID)
		}
	}
	return out, nil
}

// History gives the dreams that there were, the newest first; 0 gives all that are kept.
func History(jobs *job.Jobs, limit int) ([]*job.Record, error) {
	return jobs.List(job.ListOptions{Kind: job.Dream, Limit: limit})
}

// retryAfter is how long a dream by itself waits after one that failed: without it every
// turn would begin one that fails for the same reason.
const retryAfter = time.Hour

// Due says whether a dream by itself is to start, with the reasons. All gates are asked,
// and whether one waits for an agent already or has just failed.
func (s Setting) Due(ctx context.Context, jobs *job.Jobs) (due bool, reasons []string, err error) {
	g, err := s.Check(ctx, Auto, false)
	if err != nil {
		return false, nil, err
	}
	if c := g.Closed(); c != nil {
		return false, append(g.Notes, c.Name+": "+c.Reason), nil
	}
	for _, gate := range g.Gates {
		reasons = append(reasons, gate.Name+": "+gate.Reason)
	}
	last, err := History(jobs, 1)
	if err != nil || len(last) == 0 {
		return err == nil, reasons, err
	}
	r := last[0]
	switch since := s.Env.Time().Sub(r.Ended); {
	case !r.State.Final() && r.State != job.Running:
		return false, []string{fmt.Sprintf("the dream %s waits for an agent that does it", r.ID)}, nil
	case !r.State.Final():
		return false, []string{fmt.Sprintf("the dream %s is under way", r.ID)}, nil
	case (r.State == job.Failed || r.State == job.Lost || r.State == job.Cancelled) && since >= 0 && since < retryAfter:
		return false, []string{fmt.Sprintf("the dream %s did not come to its end (%s); the next try is at %s at the earliest", r.ID, r.State, r.Ended.Add(retryAfter).UTC().Format(time.TimeOnly))}, nil
	}
	return true, reasons, nil
}
