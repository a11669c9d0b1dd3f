package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mem/core/project"
	"mem/core/sessions"
	"mem/internal/term"
)

func (a *app) exportCommand() *cobra.Command {
	var f sessionFlags
	var o sessions.ExportOptions
	var out string
	c := &cobra.Command{
		Use:   "export SESSION|FILE",
		Short: "Write a whole session for people: Markdown, or one HTML file that needs nothing else",
		Args:  term.OneArg("the id of a session, the beginning of one, latest, or a transcript"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := term.OneOf("format", o.Format, sessions.ExportFormats); err != nil {
				return err
			}
			o.Session = args[0]
			if a.json && out == "" {
				return term.Usage("--json tells what was written to a file; give one with -o")
			}
			var got *sessions.Exported
			err := a.withSessions(f, func(s *sessions.Sessions, p sessions.Progress) (err error) {
				o.Progress = p
				if out == "" {
					w := &shown{a: a}
					got, err = s.Export(cmd.Context(), w, o)
					return errors.Join(err, w.flush())
				}
				got, err = a.exportFile(cmd, s, o, out)
				return err
			})
			if err != nil {
				return err
			}
			if a.json && out != "" {
				return a.JSON(got)
			}
			if out != "" {
				a.Printf("wrote %s: %s", term.Clean(out), count(got.Turns, "turn"))
				if got.Secrets > 0 {
					a.Printf(", %s taken out", count(got.Secrets, "secret"))
				}
				a.Printf("\n")
			}
			notes := got.Notes
			if got.Problems != "" {
				notes = append(notes, got.Problems)
			}
			a.sessionNotes(nil, 0, append(notes, got.Failed...))
			return nil
		},
	}
	f.add(c, true)
	c.Flags().StringVar(&o.Format, "format", sessions.Markdown, "markdown or html")
	c.Flags().StringVarP(&out, "output", "o", "", "write to this file, which must not exist (default: print)")
	c.Flags().StringVar(&o.Agent, "agent", "", "the conversation of a subagent, by its id")
	c.Flags().BoolVar(&o.Agents, "agents", false, "the conversations of subagents too")
	c.Flags().BoolVar(&o.Attachments, "attachments", false, "what the client added to turns, too")
	return c
}

// exportFile writes an export to a new file: whole, or not at all.
func (a *app) exportFile(cmd *cobra.Command, s *sessions.Sessions, o sessions.ExportOptions, out string) (*sessions.Exported, error) {
	if !filepath.IsAbs(out) {
		out = filepath.Join(a.env.Cwd, out)
	}
	file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s exists already; give another name, or remove it first", out)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the export to %s: %w. Give a file in a folder that is there and can be written", out, project.Reason(err))
	}
	got, err := s.Export(cmd.Context(), file, o)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(out))
	}
	return got, nil
}

// shown writes text to the output: on a terminal without what would command it, line by
// line, so that no character is cut in two.
type shown struct {
	a    *app
	rest []byte
}

func (w *shown) Write(b []byte) (int, error) {
	if !w.a.Terminal {
		return w.a.Out.Write(b)
	}
	w.rest = append(w.rest, b...)
	i := bytes.LastIndexByte(w.rest, '\n') + 1
	_, err := io.WriteString(w.a.Out, w.a.Data(string(w.rest[:i])))
	w.rest = w.rest[i:]
	return len(b), err
}

func (w *shown) flush() error {
	_, err := io.WriteString(w.a.Out, w.a.Data(string(w.rest)))
	return err
}
