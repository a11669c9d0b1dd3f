package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/sessions"
	"mem/core/transcript/deliver"
	"mem/internal/term"
)

func (a *app) resumeCommand() *cobra.Command {
	var f sessionFlags
	o := sessions.ResumeOptions{Include: []string{sessions.ToolResults}}
	c := &cobra.Command{
		Use:   "resume SESSION|FILE",
		Short: "Print a session's conversation as it would be taken up: to read, or as messages for a model",
		Args:  term.OneArg("the id of a session, the beginning of one, latest, or a transcript"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(term.OneOf("format", o.Format, sessions.Formats), term.Between(cmd, "budget", deliver.MinBudget, math.MaxInt)); err != nil {
				return err
			}
			for _, name := range o.Include {
				if err := term.OneOf("include", name, sessions.Includes); name != "" && err != nil {
					return err
				}
			}
			o.Session = args[0]
			var r *sessions.Resumed
			err := a.withSessions(f, func(s *sessions.Sessions, p sessions.Progress) (err error) {
				o.Progress = p
				r, err = s.Resume(cmd.Context(), o)
				return err
			})
			if err != nil {
				return err
			}
			if o.Format == "messages" {
				return a.JSON(r)
			}
			return a.show(r, func() { a.showResumed(r) })
		},
	}
	f.add(c, true)
	c.Flags().StringVar(&o.Format, "format", "brief", "brief, to read, or messages: one JSON object with messages as the API takes them")
	c.Flags().IntVar(&o.Budget, "budget", 0, "tokens (default 10000, at least 2000)")
	c.Flags().StringSliceVar(&o.Include, "include", o.Include, "thinking, tool_results, attachments; none of them with --include=")
	c.Flags().StringVar(&o.At, "at", "", "end with the message of this uuid")
	c.Flags().StringVar(&o.Agent, "agent", "", "the conversation of a subagent, by its id")
	c.Flags().StringVar(&o.Cursor, "cursor", "", "older turns: what an earlier run gave")
	return c
}

func (a *app) showResumed(r *sessions.Resumed) {
	if m := r.Memory; m != nil {
		a.Printf("%s\n\n%s\n\n", a.Style(term.Faint, "session memory, written "+m.Written), a.Data(strings.TrimRight(m.Text, "\n")))
	}
	a.Printf("%s\n", a.Data(strings.TrimRight(r.Text, "\n")))
	if r.Live != "" {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "live:"), term.Clean(r.Live))
	}
	if files := r.Files; files != nil {
		for _, x := range files.Differing {
			fmt.Fprintf(a.Err, "%s %s %s\n", a.Style(term.Yellow, "file:"), x.State, term.Clean(x.Path))
		}
		if files.More > 0 {
			fmt.Fprintf(a.Err, "file: %d more that differ\n", files.More)
		}
	}
	for _, n := range r.Notes {
		if !strings.Contains(r.Text, n) { // a brief says what is left out itself
			a.sessionNotes(nil, 0, []string{n})
		}
	}
	if r.NextCursor != "" {
		fmt.Fprintln(a.Err, "older turns: --cursor", r.NextCursor)
	}
}
