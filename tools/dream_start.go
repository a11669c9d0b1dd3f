package tools

import (
	"context"
	"errors"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/work"
	"mem/diagnostics/mending"
)

type startedDream struct {
	Job      string      `json:"job"`
	State    string      `json:"state"`
	Engine   string      `json:"engine,omitempty"`
	Detail   string      `json:"detail,omitempty"`
	Why      string      `json:"why,omitempty"`
	Prompt   string      `json:"prompt,omitempty"`
	Sessions []string    `json:"sessions,omitempty"`
	Logs     []string    `json:"logs,omitempty"`
	Ended    *shownDream `json:"ended,omitempty"`
	Notes    []string    `json:"notes,omitempty"`
}

func dreamStart() spec {
	return spec{
		name:  "dream_start",
		title: "Consolidate the memory",
		description: "Has a forked agent consolidate this memory: merge what is about one subject, correct what newer sessions and logs show to be wrong, date it, drop what is over, and put MEMORY.md in order; without a model, what rules can tell. " +
			"It works on a copy; what deletes waits for a person, and memory_undo takes the rest back. Returns at once with the id of the job; dream_status follows it. " +
			"Where nobody else may think for mem, the result holds a prompt: do what it says yourself, and hand the result in with proposal_submit. It happens by itself now and then where hooks are installed (mem-mcp hooks).",
		in: schema{
			opt("job", str("Take up a queued dream that was offered to you, instead of starting one.")),
			opt("wait", boolean("Answer when it is over; many clients end a call after a minute.")),
			storeArg(),
		},
		out: schema{
			req("job", str("Id; empty where nothing was begun.")),
			req("state", choice("waiting: it is yours, see prompt; closed: nothing was begun, see notes.", "queued", "running", "waiting", "done", "failed", "cancelled", "lost", "closed")),
			opt("engine", str("")), opt("detail", str("")), opt("why", str("Why this engine.")),
			opt("prompt", str("What you are asked to do.")),
			opt("sessions", list("That you are to look at.", str(""))), opt("logs", list("", str(""))),
			opt("ended", dreamSchema().nested("What became of it, with wait.")),
			opt("notes", list("", str(""))),
		},
		run: handle(func(ctx context.Context, m target, a struct {
			Job  string `json:"job"`
			Wait bool   `json:"wait"`
		}) (answer, error) {
			if err := work.Inside(m.Env()); err != nil {
				return answer{}, err
			}
			out, err := m.startDream(ctx, a.Job, a.Wait)
			if err != nil {
				return answer{}, err
			}
			return answer{out, out.words()}, nil
		}),
	}
}

func (t target) startDream(ctx context.Context, id string, wait bool) (*startedDream, error) {
	s := dream.Of(t.Memory)
	g, err := s.Check(ctx, dream.Explicit, false)
	if err != nil {
		return nil, err
	}
	if c := g.Closed(); c != nil {
		return &startedDream{State: "closed", Notes: append(g.Notes, c.Reason)}, nil
	}
	fixer, err := mending.Of(ctx, t.Memory)
	if err != nil {
		return nil, err
	}
	h := t.house(ctx)
	c := h.Choose(false)
	if c.Missing != "" {
		return nil, noEngine(c)
	}
	out := &startedDream{Engine: c.Name, Detail: c.Detail, Why: c.Why, Notes: g.Notes}
	if c.Name == hostEngine || id != "" {
		x, err := dream.Hand(ctx, h, id, "tool", fixer)
		if err != nil {
			return nil, err
		}
		out.Engine, out.Detail, out.Job, out.State, out.Prompt = hostEngine, "", x.Job, string(job.Waiting), x.Prompt
		out.Sessions, out.Logs = x.Sessions[:min(len(x.Sessions), maxJobLines)], x.Logs[:min(len(x.Logs), maxJobLines)]
		out.Notes = append(out.Notes, x.Notes...)
		return out, nil
	}
	params, err := dream.Params{Start: dream.Explicit}.Encode()
	if err != nil {
		return nil, err
	}
	r, err := t.begin(h, c, job.Record{Kind: job.Dream, Session: s.Session, Params: params, Phase: work.PhaseStarting}, func(ctx context.Context, run *job.Run) error {
		_, err := dream.RunJob(ctx, h, run, fixer)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Job, out.State = r.ID, string(r.State)
	if !wait {
		return out, nil
	}
	if r, err = t.follow(ctx, r); err != nil {
		return nil, errors.Join(errors.New("the dream "+out.Job+" goes on without this call; dream_status follows it"), err)
	}
	out.State, out.Ended = string(r.State), t.shownDream(r)
	return out, nil
}

func (s *startedDream) words() string {
	var lines []string
	switch {
	case s.State == "closed":
		lines = append(lines, "No dream was begun.")
	case s.Prompt != "":
		lines = append(lines, "The dream "+s.Job+" is yours. Do this, where it does not disturb what the person asked for:", "", s.Prompt)
	case s.Ended != nil:
		lines = append(lines, s.Ended.words())
	default:
		lines = append(lines, "The dream "+s.Job+" is under way, by the engine "+s.Engine+". dream_status tells how far it is.")
	}
	for _, n := range s.Notes {
		lines = append(lines, "Note: "+memdir.Shown(n, 600))
	}
	return words(lines...)
}
