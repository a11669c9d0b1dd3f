package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/memfile"
	"mem/core/memory"
	"mem/internal/term"
)

func (a *app) contextCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "context",
		Short: "Print what a conversation starts with",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				c, err := working(a, "reading the memory", func() (*memory.Context, error) { return m.SessionStart(cmd.Context()) })
				if err != nil {
					return err
				}
				return a.show(c, func() {
					if c.Text != "" {
						a.Printf("%s\n", a.Data(strings.TrimRight(c.Text, "\n")))
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
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := onlyType(o.Type); err != nil {
				return err
			}
			return a.withMemory(func(m *memory.Memory) error {
				l, err := working(a, "reading the memory", func() (*memory.List, error) { return m.ListAll(cmd.Context(), o) })
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

// onlyType refuses a type that there is not; without one all are meant.
func onlyType(t string) error {
	if t == "" {
		return nil
	}
	return term.OneOf("type", t, memfile.Types)
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
	a.Table([]string{"topic", "type", "changed", "", "description"}, rows)
	if !a.Terminal {
		for _, p := range l.Unread {
			fmt.Fprintf(a.Err, "not read: %s %s\n", term.Clean(p.Path), term.Clean(p.Message))
		}
		a.notice(l.Notice)
		return
	}
	a.Printf("%s in %s\n", count(l.Total, "topic"), l.Directory)
	for _, p := range l.Unread {
		a.Printf("%s %s %s\n", a.Style(term.Yellow, "not read:"), term.Clean(p.Path), term.Clean(p.Message))
	}
	a.fill(l.Index)
	a.notice(l.Notice)
}

func (a *app) readCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "read TOPIC",
		Short: "Print a topic, the index (MEMORY.md) or a daily log (its date)",
		Args:  term.OneArg("a path or name, MEMORY.md, or a date"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				r, err := working(a, "reading the memory", func() (*memory.Read, error) { return m.ReadAll(cmd.Context(), args[0]) })
				if err != nil {
					return err
				}
				return a.show(r, func() {
					a.Printf("%s", a.Data(r.Text))
					for _, p := range r.Problems {
						fmt.Fprintln(a.Err, a.Style(term.Yellow, "problem:"), term.Clean(p))
					}
					a.notice(r.Notice)
				})
			})
		},
	}
}

func (a *app) searchCommand() *cobra.Command {
	var o memory.SearchOptions
	var said saidFlags
	var stores string
	c := &cobra.Command{
		Use:   "search WORD…",
		Short: "Rank topics by words; with --transcripts, what was said in sessions",
		Args:  term.SomeArgs("words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Query = strings.Join(args, " ")
			if err := errors.Join(said.check(cmd), onlyType(o.Type), term.Between(cmd, "limit", 1, memory.MaxHits)); err != nil {
				return err
			}
			if said.on {
				return a.searchSessions(cmd.Context(), &said, o.Query, o.Limit)
			}
			if stores != "" && stores != "all" {
				return term.Usage("--stores takes all; to search one store, name it with --store")
			}
			return a.withMemory(func(m *memory.Memory) error {
				search := m.Search
				if stores != "" {
					search = func(ctx context.Context, o memory.SearchOptions) (*memory.Found, error) { return searchAll(ctx, m, o) }
				}
				f, err := working(a, "searching", func() (*memory.Found, error) { return search(cmd.Context(), o) })
				if err != nil {
					return err
				}
				return a.show(f, func() { a.showFound(f) })
			})
		},
	}
	c.Flags().StringVar(&o.Type, "type", "", "only topics of this type")
	c.Flags().BoolVar(&o.Logs, "logs", false, "search daily logs too")
	c.Flags().StringVar(&stores, "stores", "", "all: search every store, those of agents and the folders of the configuration, too")
	c.Flags().IntVar(&o.Limit, "limit", 0, "hits to show (default 10, at most 50)")
	said.add(c)
	return c
}

func (a *app) showFound(f *memory.Found) {
	var rows [][]string // into a pipe
	for _, h := range f.Hits {
		var fields []string
		for _, m := range h.Matched {
			fields = append(fields, m.Field)
		}
		at := h.Path
		if h.Store != "" {
			at = h.Store + ": " + h.Path
		}
		if !a.Terminal {
			rows = append(rows, []string{at, strings.Join(fields, ","), h.Description, h.Snippet})
			continue
		}
		a.Printf("%s  %s  %s\n", a.Style(term.Bold, term.Clean(at)), term.Clean(h.Description), a.Style(term.Faint, "["+strings.Join(fields, ", ")+"]"))
		if h.Snippet != "" {
			a.Printf("    %s\n", term.Clean(h.Snippet))
		}
	}
	if !a.Terminal {
		a.Table([]string{"topic", "matched", "description", "snippet"}, rows)
	}
	if f.Total > len(f.Hits) {
		fmt.Fprintf(a.Err, "%d more\n", f.Total-len(f.Hits))
	}
	for _, c := range f.Corrected {
		fmt.Fprintln(a.Err, "searched instead:", term.Clean(c))
	}
	if f.Reason != "" {
		fmt.Fprintln(a.Err, term.Clean(f.Reason))
	}
	a.notice(f.Notice)
}
