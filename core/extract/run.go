package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mem/core/engine"
	"mem/core/fork"
	"mem/core/inherit"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
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

// Running gives the id of the job that runs on a memory, in any process; "" where none
// does.
func Running(m *memory.Memory) string { return stateOf(m.StateDirectory()).running() }

// ErrBusy says that another process runs an extraction on this memory; what waits is
// served by it.
var ErrBusy = errors.New("another extraction is under way on this memory; it serves the sessions that wait, in a trailing run")

// maxFailures ends a run on which so many sessions failed: nobody thinks then, most
// likely, and the others would fail as well. They wait for the next run.
const maxFailures = 3

// Run serves every session that waits, and those whose turns end meanwhile, in a trailing
// run. It is the body of a job; how it ended is in its record. Where another process does
// that already it gives ErrBusy. Sessions that could not be served still wait.
func Run(ctx context.Context, h *work.House, r *job.Run) error {
	b := &batch{h: h, r: r, s: stateOf(h.Memory.StateDirectory()), failed: map[string]time.Time{}}
	for first := true; ; first = false {
		unlock, ok, err := h.Jobs.TryLock(lockName)
		switch {
		case err != nil:
			return errors.Join(append(b.errs, err)...)
		case !ok && first:
			return ErrBusy
		case !ok: // by who serves what came after our last look
			return errors.Join(b.errs...)
		}
		end, err := b.s.begin(r.ID())
		if err == nil {
			err = errors.Join(b.serveAll(ctx), b.s.sweep(time.Now()), end())
		}
		unlock()
		if err != nil {
			return errors.Join(append(b.errs, err)...)
		}
		// A turn that ended after the last look left its note and found the lock taken.
		if left, err := b.next(); err != nil || len(left) == 0 || len(b.errs) >= maxFailures {
			return errors.Join(append(b.errs, err)...)
		}
	}
}

// batch is one run with what it has done.
type batch struct {
	h      *work.House
	r      *job.Run
	s      state
	failed map[string]time.Time // sessions on which it failed, and since when they waited
	errs   []error
}

// next gives the sessions that wait and on which this run did not fail.
func (b *batch) next() ([]Waiting, error) {
	list, err := b.s.waiting()
	return slices.DeleteFunc(list, func(w Waiting) bool {
		since, ok := b.failed[w.Session]
		return ok && since.Equal(w.Since)
	}), err
}

// serveAll serves until nobody waits.
func (b *batch) serveAll(ctx context.Context) error {
	for {
		list, err := b.next()
		if err != nil || len(list) == 0 {
			return err
		}
		for _, w := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(b.errs) >= maxFailures {
				return nil
			}
			if err := b.one(ctx, w); err != nil {
				return err
			}
		}
	}
}

// one serves one session. What fails on it alone is kept for the end.
func (b *batch) one(ctx context.Context, w Waiting) error {
	done, err := serve(ctx, b.h, b.r, w)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.failed[w.Session] = w.Since
		still, noteErr := b.s.failed(w)
		err = fmt.Errorf("the session %s: %w", memdir.ShownName(w.Session), err)
		if !still {
			err = fmt.Errorf("%w; it failed %d times and waits no more until its next turn ends", err, maxFailed)
		}
		b.errs = append(b.errs, err)
		done = &Served{Session: w.Session, Gate: "failed", Reason: err.Error()}
		if noteErr != nil {
			return noteErr
		}
	}
	b.r.Progress(func(x *job.Record) {
		x.Sessions = append(x.Sessions, w.Session)
		x.Report = strings.TrimLeft(x.Report+"\n"+done.words(), "\n")
		if done.Change != "" {
			x.Change = done.Change
		}
		if done.Proposal != "" {
			x.Proposal = done.Proposal
		}
	})
	if err != nil {
		return nil
	}
	return b.s.served(w)
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
		return errors.Join(s.setCursor(Cursor{Session: w.Session, Leaf: v.chain.ResumePoint(v.t), Time: h.Memory.Env().Time(), By: by}), s.setTurns(w.Session, 0),
			unqueue(h, w.Session))
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
	if wrote != "" && !w.Asked {
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
	choice := h.Choose(!w.Asked)
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
	policy := proposal.PolicyOf(m.Config, job.Extract)
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
			out.Reason += fmt.Sprintf(": the run ended by its %s: %s", done.End, done.Reason)
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
	if !done.Whole() {
		out.Reason += fmt.Sprintf(", since the run ended by its %s: %s", done.End, done.Reason)
	}
	return move(r.ID())
}

// maxReport is how much of the agent's last words is kept, in characters.
const maxReport = 2_000

// noEngine leaves a session for the next conversation where a host may do it; its cursor
// moves when that is done.
func noEngine(h *work.House, r *job.Run, w Waiting, out *Served, c engine.Choice, leaf transcript.UUID) error {
	out.Gate = "engine"
	waits := c.Name == fork.Host || c.Name == fork.Sampling // whose client may be there then
	if c.Missing != "" && !waits {
		return fmt.Errorf("the engine %s, which the configuration names, cannot be used: %s", c.Name, c.Missing)
	}
	if !waits {
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
		if t.Rows.At(v.chain.Rows[p]).UUID == c.Leaf {
			from = p + 1
			break
		}
	}
	for _, i := range v.chain.Rows[from:] {
		if k := t.Rows.At(i).Kind; k == transcript.User || k == transcript.Assistant {
			v.fresh = append(v.fresh, i)
		}
	}
	return v, nil
}
