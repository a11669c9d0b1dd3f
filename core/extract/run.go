package extract

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mem/core/engine"
	"mem/core/fork"
	"mem/core/inherit"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/proposal"
	"mem/core/transcript"
	"mem/core/work"
)

// Served is what became of one session in a run.
type Served struct {
	Session string `json:"session"`
	// Gate names what decided where no agent ran: "nothing-new", "wrote-memory", "gone".
	Gate   string `json:"gate,omitempty"`
	Reason string `json:"reason"`
	Turns  int    `json:"turns,omitempty"` // of the agent
	// Change and Proposal are what it left.
	Change   string `json:"change,omitempty"`
	Proposal string `json:"proposal,omitempty"`
	Report   string `json:"report,omitempty"`
}

// lockName is the lock that lets one run work on a memory at a time.
const lockName = "extract"

// Running reports whether a run is under way on a memory, in any process.
func Running(h *work.House) bool {
	unlock, ok, err := h.Jobs.TryLock(lockName)
	if err != nil {
		return false
	}
	if ok {
		unlock()
	}
	return !ok
}

// ErrBusy says that another process runs an extraction on this memory; what waits is
// served by it.
var ErrBusy = errors.New("another extraction is under way on this memory; it serves the sessions that wait, in a trailing run")

// Run serves every session that waits, and those whose turns end meanwhile, in a trailing
// run. It is the body of a job; how it ended is in its record. Where another process does
// that already it gives ErrBusy.
func Run(ctx context.Context, h *work.House, r *job.Run) error {
	served := 0
	for {
		unlock, ok, err := h.Jobs.TryLock(lockName)
		if err != nil {
			return err
		}
		if !ok {
			if served == 0 {
				return ErrBusy
			}
			return nil
		}
		n, err := serveAll(ctx, h, r)
		unlock()
		served += n
		if err != nil {
			return err
		}
		// A turn that ended after the last look left its note and found the lock taken.
		if left, err := stateOf(h.Memory.StateDirectory()).waiting(); err != nil || len(left) == 0 {
			return err
		}
	}
}

// serveAll serves until nobody waits.
func serveAll(ctx context.Context, h *work.House, r *job.Run) (int, error) {
	s := stateOf(h.Memory.StateDirectory())
	n := 0
	for {
		list, err := s.waiting()
		if err != nil || len(list) == 0 {
			return n, err
		}
		for _, w := range list {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			one, err := serve(ctx, h, r, w)
			if err != nil {
				return n, fmt.Errorf("the session %s: %w", memdir.ShownName(w.Session), err)
			}
			n++
			r.Progress(func(x *job.Record) {
				x.Sessions = append(x.Sessions, w.Session)
				x.Report = strings.TrimLeft(x.Report+"\n"+one.words(), "\n")
				if one.Change != "" {
					x.Change = one.Change
				}
				if one.Proposal != "" {
					x.Proposal = one.Proposal
				}
			})
			if err := s.served(w); err != nil {
				return n, err
			}
		}
	}
}

func (s *Served) words() string {
	b := s.Session + ": " + s.Reason
	if s.Report != "" {
		b += "\n" + s.Report
	}
	return b
}

// serve looks at one session.
func serve(ctx context.Context, h *work.House, r *job.Run, w Waiting) (*Served, error) {
	out := &Served{Session: w.Session}
	v, err := look(ctx, h, w)
	var gone *goneError
	switch {
	case errors.As(err, &gone):
		out.Gate, out.Reason = "gone", gone.Error()
		return out, nil
	case err != nil:
		return nil, err
	}
	defer v.src.Close()
	s := stateOf(h.Memory.StateDirectory())
	move := func(by string) error {
		return s.setCursor(Cursor{Session: w.Session, Leaf: v.chain.ResumePoint(v.t), Time: h.Memory.Env().Time(), By: by})
	}
	if len(v.fresh) == 0 {
		out.Gate, out.Reason = "nothing-new", "nothing was said since the last run"
		return out, nil
	}
	l := h.Memory.Location
	wrote, err := wroteMemory(ctx, v.src, v.t, v.fresh, []string{l.Directory, l.Real})
	if err != nil {
		return nil, err
	}
	if wrote != "" {
		out.Gate, out.Reason = "wrote-memory", "the agent wrote memory itself since the last run ("+memdir.Shown(wrote, 80)+"); the cursor moved on"
		return out, move("")
	}
	conversation, err := inherit.Take(ctx, v.src, v.t, v.chain, inherit.Options{Since: v.cursor.Leaf, Redact: h.Memory.Guard()})
	if err != nil {
		return nil, err
	}
	return out, agent(ctx, h, r, w, out, conversation, move)
}

// agent has an agent look at a conversation, and stores what it keeps.
func agent(ctx context.Context, h *work.House, r *job.Run, w Waiting, out *Served, c *inherit.Conversation, move func(by string) error) error {
	m := h.Memory
	manifest, err := m.Manifest(ctx)
	if err != nil {
		return err
	}
	log := ""
	if m.DailyLog() {
		log = memdir.LogPath(m.Env().Time())
	}
	choice := h.Choose(r.Record().By == byHook)
	r.Progress(func(x *job.Record) { x.Engine, x.Detail, x.Why = choice.Name, choice.Detail, choice.Why })
	if choice.Engine == nil {
		return noEngine(h, r, w, out, choice, c.Leaf)
	}
	conf := m.Config.Jobs.Extract
	done, err := h.Agent(ctx, r, choice, work.Order{
		Session: out.Session, System: system, Shared: c.Messages, LogOnly: log,
		Prompt: instruction(m, c, manifest, log, m.Env().Time()),
		Limits: fork.Limits{Turns: conf.MaxTurns, Wall: Wall, OutputTokens: OutputTokens, ToolCalls: ToolCalls, ReadBytes: ReadBytes},
	})
	if err != nil {
		return err
	}
	out.Turns, out.Report = done.Turns, memdir.Shown(done.Text, maxReport)
	policy := proposal.Policy(conf.Policy)
	if !done.Whole() {
		policy = proposal.Review // what an agent left that was not through is nobody's last word
	}
	switch {
	case done.End == fork.EndCancelled:
		return context.Canceled
	case done.End == fork.EndFailed, done.End == fork.EndBudget:
		return fmt.Errorf("%s: %s", done.End, done.Reason)
	case done.Result.Change.Empty():
		out.Reason = "nothing was kept"
		if !done.Whole() {
			out.Reason += ": the run ended by its " + string(done.End)
		}
		return move(r.ID())
	}
	settled, err := h.Proposals.Settle(ctx, proposal.Submission{
		Job: r.ID(), Kind: job.Extract, Title: "what a conversation taught", Report: out.Report, Origin: out.Session,
		Policy: policy, Units: proposal.Split(done.Result.Change),
	})
	if err != nil {
		return err
	}
	out.Change = settled.Change
	out.Reason = fmt.Sprintf("%d parts were kept", len(settled.Applied))
	if settled.Proposal != nil {
		out.Proposal = settled.Proposal.ID
		out.Reason = fmt.Sprintf("%d parts were kept, %d wait for review", len(settled.Applied), len(settled.Held))
	}
	return move(r.ID())
}

// maxReport is how much of the agent's last words is kept, in characters.
const maxReport = 2_000

// byHook is who started a record that nobody asked for.
const byHook = "hook"

// noEngine leaves a session for the next conversation where a host may do it; its cursor
// moves when that is done.
func noEngine(h *work.House, r *job.Run, w Waiting, out *Served, c engine.Choice, leaf transcript.UUID) error {
	out.Gate = "engine"
	if c.Name != fork.Host {
		out.Reason = "nobody thinks: " + c.Why
		return nil
	}
	q, err := Queue(h, w, leaf, r.Record().By, c.Why)
	if err != nil {
		return err
	}
	out.Reason = "waits for the next conversation as the job " + q.ID + ": " + c.Why
	return nil
}

// goneError says that there is nothing to look at.
type goneError struct{ reason string }

func (e *goneError) Error() string { return e.reason }

// view is a session as a run looks at it.
type view struct {
	src    transcript.Source
	t      *transcript.Transcript
	chain  *transcript.Chain
	cursor Cursor
	fresh  []int // rows since the cursor
}

// look reads the end of a session's transcript.
func look(ctx context.Context, h *work.House, w Waiting) (*view, error) {
	path := w.Transcript
	if path == "" {
		x, err := transcript.Pick(ctx, h.Memory.Env(), transcript.FindOptions{Project: h.Memory.Location.Project}, w.Session)
		if err != nil {
			return nil, &goneError{err.Error()}
		}
		path = x.Path
	}
	c, err := stateOf(h.Memory.StateDirectory()).cursor(w.Session)
	if err != nil {
		return nil, err
	}
	src, err := transcript.Open(path)
	if err != nil {
		return nil, &goneError{fmt.Sprintf("its transcript cannot be read: %v", err)}
	}
	t, err := transcript.ReadTail(ctx, src, src.Size(), transcript.Options{})
	if err != nil {
		src.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &goneError{fmt.Sprintf("its transcript cannot be read: %v", err)}
	}
	v := &view{src: src, t: t, chain: t.Chain(transcript.UUID{}), cursor: c}
	from := 0
	for p := len(v.chain.Rows) - 1; p >= 0 && !c.Leaf.IsZero(); p-- {
		if t.Rows[v.chain.Rows[p]].UUID == c.Leaf {
			from = p + 1
			break
		}
	}
	for _, i := range v.chain.Rows[from:] {
		if k := t.Rows[i].Kind; k == transcript.User || k == transcript.Assistant {
			v.fresh = append(v.fresh, i)
		}
	}
	return v, nil
}
