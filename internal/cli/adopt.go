package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/memory"
	"mem/core/transcript"
	"mem/internal/term"
)

func (a *app) adoptCommand() *cobra.Command {
	var o memory.AdoptOptions
	redact := true
	c := &cobra.Command{
		Use:   "adopt [OLD]",
		Short: "Take over the memory and the sessions of a project that was renamed or moved to this one; without OLD, say which may be",
		Long: "adopt takes over the memory and the sessions of a project that was renamed or moved to this one. OLD is the directory that\n" +
			"it had, or the id that adopt shows without OLD: there are those projects whose directory is gone and that look like this one.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usage("adopt takes at most one argument: the directory that the project had, or its id")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ShowSecrets = !redact
			return a.withMemory(func(m *memory.Memory) error {
				if len(args) == 0 {
					tell, stop := a.Progress("looking for projects")
					list, err := m.Moved(cmd.Context(), memory.MovedOptions{ShowSecrets: o.ShowSecrets, Progress: tell})
					stop()
					if err != nil {
						return err
					}
					if list == nil {
						list = []transcript.Moved{}
					}
					return a.show(list, func() { a.showMoved(list) })
				}
				o.Old, o.Version = args[0], a.version
				tell, stop := a.Progress("taking the project over")
				o.Progress = tell
				got, err := m.Adopt(cmd.Context(), o)
				stop()
				if got == nil {
					return err
				}
				if err == nil && got.Sessions != nil && got.Sessions.Failed > 0 {
					err = fmt.Errorf("%s not copied, for the reasons above; run this again when they are mended", count(got.Sessions.Failed, "session"))
				}
				return errors.Join(err, a.show(got, func() { a.showAdopted(got) }))
			})
		},
	}
	redactFlag(c, &redact)
	c.Flags().BoolVar(&o.StillThere, "still-there", false, "take it over though its directory exists")
	return c
}

func (a *app) showMoved(list []transcript.Moved) {
	if len(list) == 0 {
		fmt.Fprintln(a.Err, "no project whose directory is gone looks like this one; name it: mem-mcp adopt OLD")
		return
	}
	var rows [][]string
	for _, m := range list {
		used := ""
		if !m.LastUsed.IsZero() {
			used = m.LastUsed.Local().Format("2006-01-02 15:04")
		}
		rows = append(rows, []string{m.ID, m.Root, fmt.Sprint(m.Topics), fmt.Sprint(m.Sessions), used, strings.Join(m.Why, "; ")})
	}
	if a.Terminal {
		defer a.Printf("take one over with its id: mem-mcp adopt %s\n", list[0].ID)
	}
	a.Table([]string{"id", "project", "topics", "sessions", "used", "why"}, rows)
}

func (a *app) showAdopted(got *memory.Adopted) {
	a.Printf("%s\n", term.Clean(got.Words()))
	for _, f := range got.Files {
		if f.Action == transcript.TakenSame {
			continue // the words above count them
		}
		line := f.Action + "  " + term.Clean(f.Path)
		if f.To != "" && f.To != f.Path {
			line += " → " + term.Clean(f.To)
		}
		if f.Reason != "" {
			line += ": " + term.Clean(f.Reason)
		}
		a.Printf("  %s\n", line)
	}
	if got.ID != "" {
		a.Printf("mem-mcp undo %s takes it back\n", got.ID)
	}
	if got.Sessions != nil {
		a.sessionNotes(got.Sessions.Skipped, 0, nil)
	}
	a.notice(got.Notice)
}
