package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/fork"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/sessionmem/update"
	"mem/core/sessions"
	"mem/core/transcript"
	"mem/internal/term"
)

func (a *app) summaryCommand() *cobra.Command {
	var renew, wait bool
	c := &cobra.Command{
		Use:   "summary [SESSION]",
		Short: "Print the session memory of a session: the rolling summary that survives a compaction",
		Long: "summary prints the session memory of a session, else what its last compaction kept; of the newest session unless told.\n" +
			"With --update a forked agent writes the session memory anew.",
		Args: atMostOne("summary", "the id of a session, the beginning of one, or latest"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait && !renew {
				return term.Usage("--wait goes with --update")
			}
			return a.withProject(func(m *memory.Memory) error {
				return a.oneSession(cmd.Context(), m, first(args), func(x *transcript.Session, s *sessions.Sessions) error {
					if renew {
						return a.renewSummary(cmd.Context(), m, x, wait)
					}
					tell, stop := a.Progress("reading the session")
					sum, err := s.Summary(cmd.Context(), x.ID, tell)
					stop()
					if err != nil {
						return err
					}
					return a.show(sum, func() {
						a.Printf("%s\n\n%s\n", a.Style(term.Faint, fmt.Sprintf("%s of %s, written %s", sum.From, sum.Session, sum.Written)), a.Data(strings.TrimRight(sum.Text, "\n")))
						if sum.Cut {
							fmt.Fprintln(a.Err, "the text is longer:", sum.Path)
						}
					})
				})
			})
		},
	}
	c.Flags().BoolVar(&renew, "update", false, "have it written anew")
	c.Flags().BoolVar(&wait, "wait", false, "with --update: run that in this process and show what came of it")
	return c
}

func (a *app) renewSummary(ctx context.Context, m *memory.Memory, x *transcript.Session, wait bool) error {
	if gate, why := update.Off(m, false); gate == "memory" {
		return fmt.Errorf("no session memory is written: %s", why)
	}
	h := a.house(m, job.Open(m.StateDirectory(), a.env))
	c, err := a.thinker(h)
	if err != nil {
		return err
	}
	if c.Name == fork.Host {
		return fmt.Errorf("nobody thinks for mem here; an agent writes its own with session_summary_update. mem-mcp engine shows what is there")
	}
	p, err := json.Marshal(update.Params{Version: 1, Transcript: x.Path, Asked: true})
	if err != nil {
		return err
	}
	rec := job.Record{Kind: job.SessionMemory, By: "command", Session: x.ID, Params: p, Engine: c.Name, Detail: c.Detail, Why: c.Why}
	if !wait {
		return a.launch(h, rec)
	}
	return a.runHere(ctx, h, rec, func(ctx context.Context, run *job.Run) error {
		words, err := update.Run(ctx, h, run, x, true)
		if err != nil {
			return err
		}
		return run.End(job.Done, func(r *job.Record) { r.Report = words })
	})
}
