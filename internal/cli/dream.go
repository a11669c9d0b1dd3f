package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/dream"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/diagnostics/mending"
	"mem/internal/term"
)

func (a *app) dreamCommand() *cobra.Command {
	var o dream.RunOptions
	var auto, scheduled bool
	var policy string
	c := &cobra.Command{
		Use:   "dream",
		Short: "Consolidate this memory: mend it, merge copies, put the index in order; what deletes waits for you",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch o.Start = dream.Explicit; {
			case auto && scheduled:
				return term.Usage("--auto and --scheduled exclude each other")
			case auto:
				o.Start = dream.Auto
			case scheduled:
				o.Start = dream.Schedule
			}
			switch o.Policy = proposal.Policy(policy); o.Policy {
			case "", proposal.Apply, proposal.HoldDeletions, proposal.Review:
			default:
				return term.Usage("--policy is one of apply, hold-deletions and review")
			}
			return a.withMemory(func(m *memory.Memory) error {
				fixer, err := mending.Of(cmd.Context(), m)
				if err != nil {
					return err
				}
				o.Fixer = fixer
				r, err := dream.Run(cmd.Context(), m, o)
				if err != nil {
					return err
				}
				return a.show(r, func() { a.showDream(r) })
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&auto, "auto", false, "only if all gates are open, as at the end of a turn")
	f.BoolVar(&scheduled, "scheduled", false, "as --auto, for a timer: runs in daily-log mode, too")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	f.StringVar(&policy, "policy", "", "what happens to the result: apply, hold-deletions or review (default: jobs.dream.policy)")
	c.AddCommand(a.dreamStatusCommand())
	return c
}

func (a *app) showDream(r *dream.Ran) {
	if r.Closed != nil {
		a.Printf("No dream: the gate %q is closed: %s\n", r.Closed.Name, a.Data(r.Closed.Reason))
		return
	}
	a.Printf("%s", a.Data(r.Report.Markdown()))
	switch {
	case r.DryRun:
		a.Printf("\nNothing was changed.\n")
	case r.Change != "":
		a.Printf("\nApplied as %s; take it back with: mem-mcp undo %s\n", r.Change, r.Change)
	}
	if r.Waiting > 0 {
		a.Printf("%d parts wait for you in %s\n", r.Waiting, strings.Join(r.Proposals, ", "))
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.Err, term.Visible(n))
	}
}

func (a *app) dreamStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the gates of a dream by itself, and when the next one is due",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				g, err := dream.Of(m).Check(cmd.Context(), dream.Auto, true)
				if err != nil {
					return err
				}
				return a.show(g, func() { a.showGates(g) })
			})
		},
	}
}

func (a *app) showGates(g *dream.Gates) {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Local().Format("2006-01-02 15:04")
	}
	var rows [][]string
	for _, x := range g.Gates {
		state := "closed"
		if x.Open {
			state = "open"
		}
		rows = append(rows, []string{x.Name, state, a.Data(x.Reason), at(x.Due)})
	}
	a.Table([]string{"gate", "", "why", "next look"}, rows)
	last := at(g.Last)
	if last == "" {
		last = "never"
	}
	a.Printf("last dream: %s\n", last)
	switch {
	case g.Open:
		a.Printf("a dream by itself is due\n")
	case g.Next.IsZero():
		a.Printf("no dream starts by itself until a setting changes\n")
	default:
		a.Printf("the next one by itself: %s at the earliest\n", at(g.Next))
	}
	for _, n := range g.Notes {
		fmt.Fprintln(a.Err, term.Visible(n))
	}
}
