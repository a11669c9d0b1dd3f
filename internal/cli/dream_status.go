package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/memory"
	"mem/internal/term"
)

func (a *app) dreamStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the dream that runs or the last one, the gates of one by itself, and when the next is due",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				s, err := dream.StatusOf(cmd.Context(), m, job.Open(m.StateDirectory(), a.env))
				if err != nil {
					return err
				}
				return a.show(s, func() {
					a.showDreamStatus(s)
					if a.calledByNobody() {
						a.notice(memory.Notice{Notes: []string{"No client calls mem when a turn ends (mem-mcp hooks install CLIENT sets that up): a dream starts by hand, or by a timer (mem-mcp dream schedule)."}})
					}
				})
			})
		},
	}
}

func (a *app) showDreamStatus(s *dream.Status) {
	if r := s.Job; r != nil {
		a.Printf("dream %s: %s\n", r.ID, a.Data(stateLine(r)))
		if r.Reason != "" {
			a.Printf("  %s\n", a.Data(firstLine(r.Reason)))
		}
		if n := len(r.Sessions); n > 0 {
			a.Printf("  %d sessions under review\n", n)
		}
		if n := r.Usage.Tokens(); n > 0 {
			a.Printf("  %d tokens\n", n)
		}
	}
	a.showGates(s.Gates)
	if len(s.Proposals) > 0 {
		a.Printf("waits for you: %s\n", strings.Join(s.Proposals, ", "))
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
		a.Printf("no dream starts by itself until what closes the gates has changed\n")
	default:
		a.Printf("the next one by itself: %s at the earliest\n", at(g.Next))
	}
	for _, n := range g.Notes {
		fmt.Fprintln(a.Err, term.Visible(n))
	}
}

func (a *app) dreamHistoryCommand() *cobra.Command {
	limit := 20
	c := &cobra.Command{
		Use:   "history",
		Short: "List the dreams of this memory, newest first; mem-mcp jobs show has the report of one",
		Args:  term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.withJobs(func(jobs *job.Jobs) error {
				list, err := dream.History(jobs, limit)
				if err != nil {
					return err
				}
				return a.show(map[string]any{"dreams": orEmpty(list)}, func() {
					if len(list) == 0 {
						fmt.Fprintln(a.Err, "there was no dream of this memory yet")
						return
					}
					var rows [][]string
					for _, r := range list {
						what := firstLine(r.Reason)
						switch {
						case r.Change != "" && r.Proposal != "":
							what = "changed " + r.Change + ", proposed " + r.Proposal
						case r.Change != "":
							what = "changed " + r.Change
						case r.Proposal != "":
							what = "proposed " + r.Proposal
						}
						rows = append(rows, []string{r.ID, string(r.State), local(r.Created), took(r), r.Engine, r.By, term.Clean(what)})
					}
					a.Table([]string{"dream", "state", "created", "took", "engine", "by", ""}, rows)
				})
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", limit, "dreams to list; 0 lists all")
	return c
}

func (a *app) dreamCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel",
		Short: "End the dream that runs or waits, whoever runs it; the memory is as it was",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withJobs(func(jobs *job.Jobs) error {
				r, err := dream.Open(jobs)
				if err != nil {
					return err
				}
				if r == nil {
					return fmt.Errorf("no dream is under way on this memory, and none waits")
				}
				return a.cancelJob(cmd.Context(), jobs, r.ID)
			})
		},
	}
}
