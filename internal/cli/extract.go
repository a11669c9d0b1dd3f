package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mem/core/engine"
	"mem/core/extract"
	"mem/core/fork"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/sessions"
	"mem/core/transcript"
	"mem/core/work"
	"mem/internal/term"
)

func (a *app) extractCommand() *cobra.Command {
	var wait, status bool
	c := &cobra.Command{
		Use:   "extract [SESSION]",
		Short: "Have a forked agent learn from a session what will matter in later ones",
		Long: "extract looks at what was said in a session since the last time, and keeps in memory what will still matter in later\n" +
			"conversations; the newest session unless told. It starts a process and returns; mem-mcp jobs follows it. Where hooks are\n" +
			"installed (mem-mcp hooks) this happens by itself after each turn.",
		Args: atMostOne("extract", "the id of a session, the beginning of one, or latest"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if status {
				if len(args) > 0 {
					return term.Usage("--status is about all sessions; give no session with it")
				}
				return a.withMemory(a.extractStatus)
			}
			return a.withMemory(func(m *memory.Memory) error { return a.extractSession(cmd.Context(), m, first(args), wait) })
		},
	}
	c.Flags().BoolVar(&wait, "wait", false, "run it in this process and show what came of it")
	c.Flags().BoolVar(&status, "status", false, "show what ran, what waits, and up to where sessions were looked at")
	return c
}

func atMostOne(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return term.Usage("%s takes at most one argument: %s", command, what)
		}
		return nil
	}
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// oneSession finds a session of the project of a memory.
func (a *app) oneSession(ctx context.Context, m *memory.Memory, ref string, f func(x *transcript.Session, s *sessions.Sessions) error) error {
	s := sessions.Open(m, sessions.Options{Version: a.version})
	tell, stop := a.Progress("looking for the session")
	x, _, notes, err := s.Find(ctx, ref, tell)
	stop()
	if err == nil {
		a.sessionNotes(nil, 0, notes)
		err = f(x, s)
	}
	return errors.Join(err, s.Close())
}

// thinker is who thinks for a job that a person asked for.
func (a *app) thinker(h *work.House) (engine.Choice, error) {
	c := h.Choose(false)
	switch {
	case c.Missing != "":
		return c, fmt.Errorf("the engine %s, which the configuration names, cannot be used: %s", c.Name, c.Missing)
	case c.Engine == nil && c.Name != fork.Host:
		return c, fmt.Errorf("nobody thinks for mem: %s. mem-mcp engine shows what is there", c.Why)
	}
	return c, nil
}

func (a *app) extractSession(ctx context.Context, m *memory.Memory, ref string, wait bool) error {
	return a.oneSession(ctx, m, ref, func(x *transcript.Session, _ *sessions.Sessions) error {
		jobs := job.Open(m.StateDirectory(), a.env)
		h := a.house(m, jobs)
		c, err := a.thinker(h)
		if err != nil {
			return err
		}
		if c.Name == fork.Host {
			r, idle, err := extract.Leave(ctx, h, x.ID, x.Path, "command")
			if err != nil {
				return err
			}
			if idle != nil {
				return a.show(idle, func() { a.Printf("%s\n", idle.Reason) })
			}
			return a.show(r, func() {
				a.Printf("queued %s: the next conversation is asked to do it, since nobody else thinks for mem here\n", r.ID)
			})
		}
		if err := extract.Ask(m, x.ID, x.Path); err != nil {
			return err
		}
		if running := extract.Running(m); running != "" {
			r, err := jobs.Get(running)
			if err != nil {
				return err
			}
			return a.show(r, func() { a.Printf("%s runs and serves this session as well\n", r.ID) })
		}
		rec := job.Record{Kind: job.Extract, By: "command", Session: x.ID, Engine: c.Name, Detail: c.Detail, Why: c.Why}
		if wait {
			return a.runHere(ctx, h, rec, func(ctx context.Context, run *job.Run) error { return extract.Run(ctx, h, run) })
		}
		return a.launch(h, rec)
	})
}

// launch starts a process that runs a job, and says which.
func (a *app) launch(h *work.House, rec job.Record) error {
	r, err := h.Launch(rec, a.startJob)
	if err != nil {
		return err
	}
	return a.show(r, func() {
		a.Printf("started %s %s\n", r.ID, a.Style(term.Faint, "(mem-mcp jobs show "+r.ID+")"))
	})
}

// runHere runs a job in this process and shows its record; the error is that of the job.
func (a *app) runHere(ctx context.Context, h *work.House, rec job.Record, f func(ctx context.Context, run *job.Run) error) error {
	made, body, err := h.Here(rec, func(ctx context.Context, run *job.Run) error {
		stop := a.live(false, run.Record)
		defer stop()
		return f(ctx, run)
	})
	if err != nil {
		return err
	}
	failed := body(ctx)
	r, err := h.Jobs.Get(made.ID)
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(a.show(r, func() { a.showJob(r) }), failed)
}

func (a *app) extractStatus(m *memory.Memory) error {
	const most = 20
	s, err := extract.StatusOf(m, most)
	if err != nil {
		return err
	}
	list, err := job.Open(m.StateDirectory(), a.env).List(job.ListOptions{Kind: job.Extract, Limit: 5})
	if err != nil {
		return err
	}
	if list == nil {
		list = []*job.Record{}
	}
	return a.show(map[string]any{"off": s.Off, "running": s.Running, "everyTurns": s.Every, "waiting": orEmpty(s.Waiting), "cursors": orEmpty(s.Cursors), "moreCursors": s.More, "jobs": list}, func() {
		if s.Off != "" {
			a.Printf("nothing is learnt from turns by itself: %s\n", a.Data(s.Off))
		}
		if len(list) > 0 {
			a.showJobs(list)
		} else {
			a.Printf("no session was looked at yet\n")
		}
		for _, w := range s.Waiting {
			a.Printf("waits since %s: %s\n", w.Since.Local().Format("2006-01-02 15:04:05"), a.Data(w.Session))
		}
		var rows [][]string
		for _, c := range s.Cursors {
			by := c.By
			if by == "" {
				by = "the agent wrote memory itself"
			}
			rows = append(rows, []string{c.Session, local(c.Time), by})
		}
		if len(rows) > 0 {
			a.Table([]string{"session", "looked at", "by"}, rows)
		}
		if s.More > 0 {
			a.Printf("and %d more sessions\n", s.More)
		}
	})
}

func local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
