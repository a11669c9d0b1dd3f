package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/memory"
)

func (a *app) contextCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "context",
		Short: "Print what a conversation starts with",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				c, err := m.SessionStart(cmd.Context())
				if err != nil {
					return err
				}
				return a.show(c, func() {
					if c.Text != "" {
						a.printf("%s\n", a.data(strings.TrimRight(c.Text, "\n")))
						return
					}
					a.notice(c.Notice)
				})
			})
		},
	}
}

func (a *app) listCommand() *cobra.Command {
	var o memory.ListOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List the topics, newest first",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				l, err := m.ListAll(cmd.Context(), o)
				if err != nil {
					return err
				}
				return a.show(l, func() { a.showList(l) })
			})
		},
	}
	c.Flags().StringVar(&o.Type, "type", "", "only topics of this type: user, feedback, project or reference")
	return c
}

func (a *app) showList(l *memory.List) {
	var rows [][]string
	for _, t := range l.Topics {
		linked := ""
		if !t.Linked {
			linked = "no entry"
		}
		rows = append(rows, []string{t.Path, t.Type, t.Modified.Local().Format("2006-01-02 15:04"), linked, t.Description})
	}
	a.table([]string{"topic", "type", "changed", "", "description"}, rows)
	if !a.streams.Terminal {
		for _, p := range l.Unread {
			fmt.Fprintf(a.streams.Err, "not read: %s %s\n", clean(p.Path), clean(p.Message))
		}
		a.notice(l.Notice)
		return
	}
	a.printf("%d topics in %s\n", l.Total, l.Directory)
	for _, p := range l.Unread {
		a.printf("%s %s %s\n", a.style(yellow, "not read:"), clean(p.Path), clean(p.Message))
	}
	a.fill(l.Index)
	a.notice(l.Notice)
}

func (a *app) readCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "read TOPIC",
		Short: "Print a topic, the index (MEMORY.md) or a daily log (its date)",
		Args:  oneArg("a path or name, MEMORY.md, or a date"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				r, err := m.ReadAll(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return a.show(r, func() {
					a.printf("%s", a.data(r.Text))
					for _, p := range r.Problems {
						fmt.Fprintln(a.streams.Err, a.style(yellow, "problem:"), clean(p))
					}
					a.notice(r.Notice)
				})
			})
		},
	}
}

func (a *app) searchCommand() *cobra.Command {
	var o memory.SearchOptions
	c := &cobra.Command{
		Use:   "search WORD…",
		Short: "Rank topics by words",
		Args:  someArgs("words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Query = strings.Join(args, " ")
			return a.withMemory(func(m *memory.Memory) error {
				f, err := m.Search(cmd.Context(), o)
				if err != nil {
					return err
				}
				return a.show(f, func() { a.showFound(f) })
			})
		},
	}
	c.Flags().StringVar(&o.Type, "type", "", "only topics of this type")
	c.Flags().BoolVar(&o.Logs, "logs", false, "search daily logs too")
	c.Flags().IntVar(&o.Limit, "limit", 0, "hits to show (default 10, at most 50)")
	return c
}

func (a *app) showFound(f *memory.Found) {
	for _, h := range f.Hits {
		var fields []string
		for _, m := range h.Matched {
			fields = append(fields, m.Field)
		}
		a.printf("%s  %s  %s\n", a.style(bold, clean(h.Path)), clean(h.Description), a.style(faint, "["+strings.Join(fields, ", ")+"]"))
		if h.Snippet != "" {
			a.printf("    %s\n", clean(h.Snippet))
		}
	}
	if f.Total > len(f.Hits) {
		fmt.Fprintf(a.streams.Err, "%d more\n", f.Total-len(f.Hits))
	}
	for _, c := range f.Corrected {
		fmt.Fprintln(a.streams.Err, "searched instead:", clean(c))
	}
	if f.Reason != "" {
		fmt.Fprintln(a.streams.Err, clean(f.Reason))
	}
	a.notice(f.Notice)
}
