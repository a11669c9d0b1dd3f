package tools

import (
	"context"
	"errors"
	"fmt"

	"mem/core/extract"
	"mem/core/fork"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/work"
)

const (
	hostEngine     = fork.Host
	samplingEngine = fork.Sampling
)

type startedExtract struct {
	Job     string   `json:"job"`
	State   string   `json:"state"`
	Session string   `json:"session"`
	Engine  string   `json:"engine,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Why     string   `json:"why,omitempty"`
	Prompt  string   `json:"prompt,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

func ownSessionArg() property {
	return opt("session", str(`Id, the beginning of one, or "latest"; yours, or else the newest, unless told.`))
}

func extractStart() spec {
	return spec{
		name:  "extract_start",
		title: "Learn from a session",
		description: "Has a forked agent look at what was said in a session since the last time, and keep in memory what will still matter in later conversations. Returns at once with the id of the job; extract_status follows it. " +
			"Where nobody else may think for mem, the result holds a prompt: do what it says yourself, and hand the result in with proposal_submit. " +
			"This happens by itself after each turn where hooks are installed (mem-mcp hooks).",
		in: schema{
			ownSessionArg(),
			opt("job", str("Take up a queued job that was offered to you, instead of starting one.")),
			storeArg(),
		},
		out: schema{
			req("job", str("Id; empty where nothing is to be looked at.")),
			req("state", choice("waiting: it is yours, see prompt; idle: nothing to do.", "queued", "running", "waiting", "idle")),
			req("session", str("")), opt("engine", str("")), opt("detail", str("")), opt("why", str("Why this engine.")),
			opt("prompt", str("What you are asked to do.")), opt("notes", list("", str(""))),
		},
		run: handle(func(ctx context.Context, m target, a struct {
			Session string `json:"session"`
			Job     string `json:"job"`
		}) (answer, error) {
			if a.Session != "" && a.Job != "" {
				return answer{}, errors.New("a job names its session itself; give one of the two")
			}
			h := m.house(ctx)
			if err := work.Inside(m.Env()); err != nil {
				return answer{}, err
			}
			var out *startedExtract
			var err error
			if a.Job != "" {
				out, err = m.takeUp(ctx, h, a.Job)
			} else {
				out, err = m.startExtract(ctx, h, a.Session)
			}
			if err != nil {
				return answer{}, err
			}
			return answer{out, out.words()}, nil
		}),
	}
}

// takeUp gives a queued job to the calling agent, or to its client's model where the
// configuration names that. Nobody asked for it, so nobody else is asked to think.
func (t target) takeUp(ctx context.Context, h *work.House, id string) (*startedExtract, error) {
	if c := h.Choose(true); c.Engine != nil {
		r, err := t.extraction(id)
		if err != nil {
			return nil, err
		}
		if r.State != job.Queued || r.Process != 0 {
			return nil, fmt.Errorf("the job %s is %s; only one that waits can be taken up", r.ID, r.State)
		}
		out, err := t.startExtract(ctx, h, r.Session)
		if err != nil {
			return nil, err
		}
		if _, err := h.Jobs.Cancel(r.ID); err != nil {
			return nil, err
		}
		out.Notes = append(out.Notes, "The job "+r.ID+" that waited is replaced by it.")
		return out, nil
	}
	mine := t.Env().Getenv("CLAUDE_CODE_SESSION_ID")
	x, err := extract.Hand(ctx, h, id, mine)
	if err != nil {
		return nil, err
	}
	return &startedExtract{Job: x.Job, State: string(job.Waiting), Session: x.Session, Engine: hostEngine, Prompt: x.Prompt}, nil
}

func (t target) startExtract(ctx context.Context, h *work.House, ref string) (*startedExtract, error) {
	x, own, notes, err := t.sessions().Find(ctx, ref, progress(ctx))
	if err != nil {
		return nil, err
	}
	if x.Agent != "" {
		return nil, fmt.Errorf("%s is a subagent's conversation; only those of main agents are learnt from", memdir.ShownName(x.ID))
	}
	c := h.Choose(false)
	if err := noEngine(c); err != nil {
		return nil, err
	}
	out := &startedExtract{Session: x.ID, Engine: c.Name, Detail: c.Detail, Why: c.Why, Notes: notes}
	if c.Name == hostEngine {
		handed, idle, err := extract.ForHost(ctx, h, x.ID, x.Path, own)
		if err != nil {
			return nil, err
		}
		if idle != nil {
			out.State = "idle"
			out.Notes = append(out.Notes, idle.Reason)
			return out, nil
		}
		out.Job, out.State, out.Prompt = handed.Job, string(job.Waiting), handed.Prompt
		return out, nil
	}
	if err := extract.Ask(t.Memory, x.ID, x.Path); err != nil {
		return nil, err
	}
	if running := extract.Running(t.Memory); running != "" {
		out.Job, out.State = running, string(job.Running)
		out.Notes = append(out.Notes, "A run was under way; it serves this session as well.")
		return out, nil
	}
	r, err := t.begin(h, c, job.Record{Kind: job.Extract, Session: x.ID}, runExtract(h))
	if err != nil {
		return nil, err
	}
	out.Job, out.State = r.ID, string(r.State)
	return out, nil
}

// runExtract is the body of a job in this process.
func runExtract(h *work.House) func(ctx context.Context, run *job.Run) error {
	return func(ctx context.Context, run *job.Run) error {
		err := extract.Run(ctx, h, run)
		if errors.Is(err, extract.ErrBusy) {
			return run.End(job.Done, func(r *job.Record) { r.Reason = err.Error() })
		}
		return err
	}
}

func (s *startedExtract) words() string {
	var lines []string
	switch s.State {
	case "idle":
		lines = append(lines, "Nothing to do for the session "+memdir.ShownName(s.Session)+".")
	case string(job.Waiting):
		lines = append(lines, "The job "+s.Job+" is yours. Do this, where it does not disturb what the person asked for:", "", s.Prompt)
	default:
		lines = append(lines, fmt.Sprintf("Job %s looks at the session %s, by the engine %s. extract_status tells how far it is.", s.Job, memdir.ShownName(s.Session), s.Engine))
	}
	for _, n := range s.Notes {
		lines = append(lines, "Note: "+n)
	}
	return words(lines...)
}
