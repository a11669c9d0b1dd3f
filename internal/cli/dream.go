package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/dream"
	"mem/core/engine"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/work"
	"mem/diagnostics/mending"
	"mem/internal/term"
)

// dreaming is how a person asked for a dream.
type dreaming struct {
	start  dream.Start
	policy proposal.Policy
	engine string
	dryRun bool
	watch  bool
}

func (a *app) dreamCommand() *cobra.Command {
	o := dreaming{start: dream.Explicit}
	var auto, scheduled bool
	var policy string
	c := &cobra.Command{
		Use:   "dream",
		Short: "Consolidate this memory: merge, correct and date it, put the index in order; what deletes waits for you",
		Long: "dream has a forked agent work on a copy of this memory, and brings what came of it to the memory by the policy; without\n" +
			"an engine (mem-mcp engine) rules do what they can. Ctrl-C ends it: the memory is as it was then. Where hooks are\n" +
			"installed (mem-mcp hooks) this happens by itself when it is worth it; mem-mcp dream schedule prints a timer for it.\n\n" +
			"It ends with exit code 0 when it dreamed, and 1 when it failed, was stopped, or nothing was begun, as while another dream runs;\n" +
			"with --auto and --scheduled a gate that is closed is no failure: 0.",
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case auto && scheduled:
				return term.Usage("--auto and --scheduled exclude each other")
			case auto:
				o.start = dream.Auto
			case scheduled:
				o.start = dream.Schedule
			}
			switch o.policy = proposal.Policy(policy); o.policy {
			case "", proposal.Apply, proposal.HoldDeletions, proposal.Review:
			default:
				return term.Usage("--policy is one of apply, hold-deletions and review")
			}
			if o.engine != "" && o.engine != engine.Auto && !slices.Contains(engine.Order, o.engine) {
				return term.Usage("--engine is one of auto, %s", strings.Join(engine.Order, ", "))
			}
			return a.withMemory(func(m *memory.Memory) error { return a.dream(cmd.Context(), m, o) })
		},
	}
	f := c.Flags()
	f.BoolVar(&auto, "auto", false, "only if all gates are open, as at the end of a turn")
	f.BoolVar(&scheduled, "scheduled", false, "as --auto, for a timer: runs in daily-log mode, too")
	f.BoolVar(&o.watch, "watch", false, "show what the agent does, also of a dream that is under way already")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be done without a model, and change nothing")
	f.StringVar(&o.engine, "engine", "", "who thinks in this run (default: the setting engine)")
	f.StringVar(&policy, "policy", "", "what happens to the result: apply, hold-deletions or review (default: jobs.dream.policy)")
	c.AddCommand(a.dreamStatusCommand(), a.dreamHistoryCommand(), a.dreamCancelCommand(), a.dreamScheduleCommand())
	return c
}

func (a *app) dream(ctx context.Context, m *memory.Memory, o dreaming) error {
	jobs := job.Open(m.StateDirectory(), a.env)
	if o.watch && !o.dryRun {
		if r, err := dream.Open(jobs); err != nil {
			return err
		} else if r != nil && r.State == job.Running {
			return a.watchDream(ctx, jobs, r)
		}
	}
	if o.dryRun {
		fixer, err := working(a, "checking the memory", func() (*mending.Fixer, error) { return mending.Of(ctx, m) })
		if err != nil {
			return err
		}
		r, err := working(a, "looking for what a dream would do", func() (*dream.Ran, error) {
			return dream.Run(ctx, m, dream.RunOptions{Start: o.start, Fixer: fixer, DryRun: true})
		})
		if err != nil {
			return err
		}
		return a.show(r, func() { a.showDream(r) })
	}
	if err := work.Inside(a.env); err != nil {
		return err
	}
	g, err := working(a, "looking at the gates", func() (*dream.Gates, error) { return dream.Of(m).Check(ctx, o.start, false) })
	if err != nil {
		return err
	}
	if c := g.Closed(); c != nil {
		return a.dreamed(&dream.Ran{Gates: g, Closed: c, Notes: g.Notes}, o)
	}
	fixer, err := working(a, "checking the memory", func() (*mending.Fixer, error) { return mending.Of(ctx, m) }) // looks at all of the memory, which a closed gate spares
	if err != nil {
		return err
	}
	return a.dreamHere(ctx, m, jobs, o, fixer)
}

// dreamHere runs a dream in this process. Nobody hands a job to a host here: where nobody
// else thinks, rules do what they can.
func (a *app) dreamHere(ctx context.Context, m *memory.Memory, jobs *job.Jobs, o dreaming, fixer dream.Fixer) error {
	config := m.Config
	if o.engine != "" {
		if err := config.Set("engine", o.engine, "--engine"); err != nil {
			return err
		}
	}
	h := &work.House{Memory: m, Jobs: jobs, Proposals: proposal.Of(m), Choose: func(automatic bool) engine.Choice {
		return engine.Choose(a.env, config, engine.Have{}, automatic && o.engine == "")
	}}
	params, err := dream.Params{Start: o.start, Policy: o.policy}.Encode()
	if err != nil {
		return err
	}
	by := "command"
	if o.start == dream.Schedule {
		by = "schedule"
	}
	var ran *dream.Ran
	made, body, err := h.Here(job.Record{Kind: job.Dream, By: by, Params: params, Phase: work.PhaseStarting}, func(ctx context.Context, run *job.Run) (err error) {
		stop := a.live(o.watch, run.Record)
		defer stop()
		ran, err = dream.RunJob(ctx, h, run, fixer)
		return err
	})
	if err != nil {
		return err
	}
	if err := body(ctx); err != nil {
		if errors.Is(err, job.ErrCancelled) || ctx.Err() != nil {
			fmt.Fprintf(a.Err, "the dream %s was cancelled; the memory is as it was\n", made.ID)
		}
		return err
	}
	return a.dreamed(ran, o)
}

// dreamed shows what a dream came to. Where a person asked and nothing was begun, that is a
// failure, so that a script does not go on as if the memory had been consolidated.
func (a *app) dreamed(r *dream.Ran, o dreaming) error {
	if err := a.show(r, func() { a.showDream(r) }); err != nil || r.Closed == nil || o.start != dream.Explicit {
		return err
	}
	if r.Closed.Name == dream.GateLock {
		return errors.New("nothing was done: a dream is under way. mem-mcp dream --watch shows it, and mem-mcp dream cancel ends it")
	}
	return errors.New("nothing was done: the gate is closed")
}

// live shows how far a job is until stop: on a terminal on one line, and with each also
// every turn on a line of its own.
func (a *app) live(each bool, record func() job.Record) (stop func()) {
	say, hide := a.Live()
	if say == nil && !each {
		return func() {}
	}
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		var seen turns
		show := func() {
			r := record()
			if each {
				for _, l := range seen.fresh(&r) {
					fmt.Fprintln(a.Err, term.Visible(l))
				}
			}
			if say != nil {
				say(stateLine(&r))
			}
		}
		for {
			show()
			select {
			case <-end:
				show() // what came since
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(end)
		<-over
		hide()
	}
}

// stateLine is a job on one line.
func stateLine(r *job.Record) string {
	s := r.Phase
	if s == "" || r.State.Final() { // one that failed keeps the phase that it failed in
		s = string(r.State)
	}
	if r.Turns > 0 {
		s += fmt.Sprintf(", %d turns, %d files touched", r.Turns, len(r.Touched))
	}
	if n := len(r.Last); n > 0 {
		s += ": " + r.Last[n-1]
	}
	return s
}

// turns tells the lines of a record that were not shown yet.
type turns struct{ last []string }

func (t *turns) fresh(r *job.Record) []string {
	// The record keeps the last few: what was shown of them is their beginning.
	for i := range t.last {
		if old := t.last[i:]; len(old) <= len(r.Last) && slices.Equal(old, r.Last[:len(old)]) {
			t.last = slices.Clone(r.Last)
			return r.Last[len(old):]
		}
	}
	t.last = slices.Clone(r.Last)
	return r.Last
}

// watchDream follows a dream of another process to its end.
func (a *app) watchDream(ctx context.Context, jobs *job.Jobs, r *job.Record) error {
	fmt.Fprintf(a.Err, "the dream %s runs in process %d; Ctrl-C ends watching it, mem-mcp dream cancel the dream\n", r.ID, r.Process)
	now := *r
	stop := a.live(true, func() job.Record {
		if x, err := jobs.Get(r.ID); err == nil {
			now = *x
		}
		return now
	})
	defer stop()
	for {
		x, err := jobs.Get(r.ID)
		if err != nil {
			return err
		}
		if x.State.Final() {
			return a.show(x, func() { a.showJob(x) })
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (a *app) showDream(r *dream.Ran) {
	switch {
	case r.Closed != nil:
		a.Printf("No dream: the gate %q is closed: %s\n", r.Closed.Name, a.Data(r.Closed.Reason))
		return
	case r.Report != nil:
		a.Printf("%s", a.Data(r.Report.Markdown()))
	}
	switch {
	case r.DryRun:
		a.Printf("\nNothing was changed.\n")
	case r.Change != "":
		a.Printf("\nApplied as %s; take it back with: mem-mcp undo %s\n", r.Change, r.Change)
	}
	if r.Waiting > 0 {
		waits := "wait"
		if r.Waiting == 1 {
			waits = "waits"
		}
		a.Printf("%s %s for you in %s (mem-mcp proposals)\n", count(r.Waiting, "part"), waits, strings.Join(r.Proposals, ", "))
	}
	if len(r.Superseded) > 0 {
		a.Printf("Earlier proposals that this one takes the place of: %s\n", strings.Join(r.Superseded, ", "))
	}
	for i, x := range r.Refused {
		if i == 20 {
			a.Printf("and %d more refusals\n", len(r.Refused)-i)
			break
		}
		a.Printf("refused: %s\n", a.Data(strings.TrimSuffix(x.What+": "+x.Reason, ": ")))
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.Err, term.Visible(n))
	}
}
