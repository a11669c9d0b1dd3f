package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"mem/core/memory"
	"mem/core/store"
	"mem/internal/term"
)

func (a *app) historyCommand() *cobra.Command {
	var o memory.HistoryOptions
	c := &cobra.Command{
		Use:   "history [CHANGE]",
		Short: "List the changes made to this memory, or show one with its diff",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usage("history takes at most one argument: the id of a change")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := term.Between(cmd, "limit", 1, memory.MaxEvents); err != nil {
				return err
			}
			if len(args) == 1 {
				o.Change = args[0]
			}
			return a.withMemory(func(m *memory.Memory) error {
				h, err := working(a, "reading the history", func() (*memory.History, error) { return m.History(cmd.Context(), o) })
				if err != nil {
					return err
				}
				return a.show(h, func() { a.showHistory(h) })
			})
		},
	}
	c.Flags().StringVar(&o.Topic, "topic", "", "only changes of this path")
	c.Flags().IntVar(&o.Limit, "limit", 0, "changes to show (default 20, at most 100)")
	c.Flags().StringVar(&o.Cursor, "before", "", "only changes before the one with this id")
	return c
}

func (a *app) showHistory(h *memory.History) {
	if len(h.Changes) == 0 {
		fmt.Fprintln(a.Err, "no change is in the history")
		a.notice(h.Notice)
		return
	}
	var rows [][]string
	for _, e := range h.Changes {
		state := ""
		switch {
		case e.UndoneBy != "":
			state = "undone by " + e.UndoneBy
		case e.Aborted:
			state = "not made"
		}
		rows = append(rows, []string{e.ID, e.Time.Local().Format("2006-01-02 15:04:05"), e.Title, state})
	}
	a.Table([]string{"change", "time", "what", ""}, rows)
	for _, e := range h.Changes {
		if e.Diff != "" {
			a.Printf("%s", a.Diff(a.Data(e.Diff)))
		}
	}
	if h.NextCursor != "" {
		fmt.Fprintf(a.Err, "more: --before %s\n", h.NextCursor)
	}
	a.notice(h.Notice)
}

func (a *app) purgeCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "purge",
		Short: "Empty the history of this memory: nothing before can be undone, and what was deleted is gone",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				return term.Usage("purge cannot be taken back; say so with --yes")
			}
			return a.withMemory(func(m *memory.Memory) error {
				p, err := working(a, "emptying the history", func() (store.Purged, error) { return m.Purge(cmd.Context()) })
				if err != nil {
					return err
				}
				return a.show(p, func() { a.Printf("purged %s, %d bytes\n", count(p.Changes, "change"), p.Bytes) })
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "really empty it")
	return c
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.show(map[string]string{"version": a.version}, func() { a.Printf("mem-mcp %s\n", a.version) })
		},
	}
}
