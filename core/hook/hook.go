package hook

import (
	"context"
	"fmt"
	"os"
	"time"

	"mem/core/fork"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/settings"
	"mem/core/transcript"
)

// Limit is how long a hook may take in all. A session waits for it.
const Limit = 5 * time.Second

// Case is an event and the memory that it is about.
type Case struct {
	Turn   *Turn
	Memory *memory.Memory // opened; nothing of the directory is read before somebody asks
	Jobs   *job.Jobs
	// Asked says that somebody only wants to know: nothing may change, counters included.
	Asked bool
}

// Afterwards is a job that may follow an event. Its check runs while a session waits: it
// opens no database and reads no more of a transcript than its end.
type Afterwards interface {
	// Check gives the records of what starts now, without ids: the hook creates them and starts
	// a process for each. reasons say, each in one sentence, why something does not start,
	// or why it does.
	Check(ctx context.Context, c Case) (start []job.Record, reasons []string, err error)
}

// Offer is something that a new conversation is told, such as open proposals. Each
// text is one paragraph; what comes from memory in it is shown as data.
type Offer func(ctx context.Context, c Case) ([]string, error)

// checks says which jobs are looked at after which event, in this order.
var checks = map[Event][]string{
	Tools:      {job.SessionMemory},
	Stop:       {job.Extract, job.SessionMemory, job.Dream},
	SessionEnd: {job.Extract},
}

// needsTranscript are the jobs that have nothing to work on without one.
var needsTranscript = map[string]bool{job.Extract: true, job.SessionMemory: true}

// Hook does what there is to do at an event.
type Hook struct {
	Env settings.Env
	// Open opens the memory of the project that an event happened in.
	Open func(t *Turn) (*memory.Memory, error)
	// Jobs are the checks by kind of job.
	Jobs map[string]Afterwards
	// Offers are asked in this order at the start of a session.
	Offers []Offer
	// Start starts a process that runs a job, and gives its pid.
	Start func(c Case, r *job.Record) (pid int, err error)
	// Version of mem, noted in what it records.
	Version string
}

// Check is how one check came out.
type Check struct {
	Job     string        `json:"job"`
	Open    bool          `json:"open"` // something starts
	Reasons []string      `json:"reasons"`
	Took    time.Duration `json:"tookNs"`
}

// Outcome is what came of an event.
type Outcome struct {
	Event Event `json:"event,omitempty"`
	// Output goes to the client as it is.
	Output []byte `json:"-"`
	// Notes are for people, each one line.
	Notes   []string `json:"notes,omitempty"`
	Checks  []Check  `json:"checks,omitempty"`
	Started []string `json:"started,omitempty"` // ids of jobs
}

func (o *Outcome) note(format string, args ...any) {
	o.Notes = append(o.Notes, cut(fmt.Sprintf(format, args...), 600))
}

// Run does what there is to do. It never fails: what went wrong is in the notes.
func (h *Hook) Run(ctx context.Context, t *Turn) *Outcome { return h.run(ctx, t, false) }

// Explain says what would start at an event and why not, and changes nothing.
func (h *Hook) Explain(ctx context.Context, t *Turn) *Outcome { return h.run(ctx, t, true) }

func (h *Hook) run(ctx context.Context, t *Turn, asked bool) *Outcome {
	out := &Outcome{Event: t.Event}
	switch {
	case fork.Inside(h.Env):
		if asked {
			out.note("%s is set: this runs inside of a forked agent, where no job starts", fork.EnvInside)
		}
		return out
	case t.Agent != "" || t.Event == SubagentStop:
		if asked {
			out.note("this event is one of a subagent; only the main agent's count")
		}
		return out
	case t.Event == PreCompact && !t.Client.Compacts:
		return out
	}
	if t.Event == Prompt && !asked && !h.wantsPrompt(t) {
		return out // without looking for the memory
	}
	m, err := h.Open(t)
	if err != nil {
		out.note("%v", err)
		return out
	}
	defer func() {
		if err := m.Close(); err != nil {
			out.note("%v", err)
		}
	}()
	if off := m.Location.Memory; !off.On {
		if asked {
			out.note("memory is off: %s", off.Why)
		}
		return out
	}
	c := Case{Turn: t, Memory: m, Jobs: job.Open(m.StateDirectory(), h.Env), Asked: asked}
	h.record(ctx, c, out)
	if !asked {
		if text := h.text(ctx, c, out); text != "" {
			out.Output = t.Client.Output(t.Event, t.Name, text)
		}
	}
	h.after(ctx, c, out)
	return out
}

// text is what the model is told at an event.
func (h *Hook) text(ctx context.Context, c Case, out *Outcome) string {
	switch c.Turn.Event {
	case SessionStart:
		return h.sessionStart(ctx, c, out)
	case Prompt:
		return h.matching(ctx, c, out)
	case PreCompact:
		return h.summary(c, out)
	}
	return ""
}

// after checks the jobs that may follow, and starts them.
func (h *Hook) after(ctx context.Context, c Case, out *Outcome) {
	kinds := checks[c.Turn.Event]
	if len(kinds) == 0 {
		return
	}
	// A file that cannot be read may switch off what would start, or name who is to pay.
	if faults := c.Memory.Warnings; len(faults) > 0 {
		reason := "no job starts by itself until the configuration is mended: " + faults[0]
		for _, kind := range kinds {
			if h.Jobs[kind] != nil {
				out.Checks = append(out.Checks, Check{Job: kind, Reasons: []string{cut(reason, 600)}})
			}
		}
		if !c.Asked {
			out.note("%s", reason)
		}
		return
	}
	missing := ""
	if c.Turn.Transcript == "" {
		missing = "there is no transcript of this session"
	} else if info, err := os.Stat(c.Turn.Transcript); err != nil || !info.Mode().IsRegular() {
		missing = fmt.Sprintf("the transcript %s does not exist or is no file", c.Turn.Transcript)
	}
	if missing == "" && transcript.ValidID(c.Turn.Session) != nil {
		missing = fmt.Sprintf("%q is no id of a session", cut(c.Turn.Session, 60))
	}
	told := false
	for _, kind := range kinds {
		j := h.Jobs[kind]
		if j == nil {
			continue
		}
		began := time.Now()
		check := Check{Job: kind, Reasons: []string{}}
		if missing != "" && needsTranscript[kind] {
			check.Reasons = append(check.Reasons, missing)
			if !told && !c.Asked {
				out.note("%s; nothing is learned from this turn", missing)
			}
			told = true
		} else if start, reasons, err := j.Check(ctx, c); err != nil {
			check.Reasons = append(append(check.Reasons, reasons...), err.Error())
			out.note("%s: %v", kind, err)
		} else {
			check.Open = len(start) > 0
			check.Reasons = append(check.Reasons, reasons...)
			if !c.Asked {
				h.start(c, start, out)
			}
		}
		check.Took = time.Since(began)
		out.Checks = append(out.Checks, check)
	}
}

// start creates the records and a process for each.
func (h *Hook) start(c Case, records []job.Record, out *Outcome) {
	for _, r := range records {
		r.By = "hook"
		if r.Session == "" {
			r.Session = c.Turn.Session
		}
		made, err := c.Jobs.Create(r)
		if err != nil {
			out.note("%v", err)
			continue
		}
		pid, err := h.Start(c, made)
		if err != nil {
			out.note("%v", err)
			reason := err.Error()
			_, err = c.Jobs.Update(made.ID, func(r *job.Record) error {
				r.State, r.Ended, r.Reason = job.Failed, h.Env.Time(), reason
				return nil
			})
			if err != nil {
				out.note("%v", err)
			}
			continue
		}
		out.Started = append(out.Started, made.ID)
		// So that a process that dies before it begins is noticed.
		_, err = c.Jobs.Update(made.ID, func(r *job.Record) error {
			if r.State == job.Queued && r.Process == 0 {
				r.Process, r.ProcessStart = pid, job.ProcessStart(pid)
			}
			return nil
		})
		if err != nil {
			out.note("%v", err)
		}
	}
}
