package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/diagnostics/workspace"
	"mem/internal/term"
)

func (a *app) storesCommand() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "stores",
		Short: "List every memory that --store can name, with its state, and those of one agent that lie apart",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withProject(func(m *memory.Memory) error {
				l, err := working(a, "looking at the stores", func() (*agentmem.Stores, error) { return listStores(cmd.Context(), m, agent) })
				if err != nil {
					return err
				}
				return a.show(l, func() { a.showStores(l) })
			})
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "only the stores of this agent")
	c.AddCommand(a.mergeStoresCommand())
	return c
}

func listStores(ctx context.Context, m *memory.Memory, agent string) (*agentmem.Stores, error) {
	var several workspace.Several
	return agentmem.List(ctx, m, agentmem.Options{Agent: agent, Look: func(ctx context.Context, dir string) (*memdir.View, map[string]int, error) {
		return several.Look(ctx, m.Env(), m.Location.Project.Root, dir)
	}})
}

func (a *app) showStores(l *agentmem.Stores) {
	var rows [][]string
	for _, s := range l.Stores {
		name := s.Name
		if name == "" {
			name = "(none) " + s.Directory
		}
		row := []string{name, "", "", "", "", ""}
		if h := s.Health; h != nil {
			row[1], row[2], row[3] = fmt.Sprint(h.Topics), fmt.Sprintf("%d %%", h.Index.Percent), problemsFound(h.Problems)
			if h.LastChange != nil {
				row[4] = h.LastChange.Local().Format("2006-01-02 15:04")
			}
		}
		switch {
		case !s.Exists && s.ReadOnly:
			row[5] = "does not exist"
		case !s.Exists:
			row[5] = "none yet"
		case s.ReadOnly:
			row[5] = "only read"
		case s.Snapshot:
			row[5] = "has a snapshot"
		}
		rows = append(rows, row)
	}
	a.Table([]string{"store", "topics", "index", "problems", "changed", ""}, rows)
	for _, s := range l.Stores {
		for _, n := range s.Notes {
			fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.Clean(s.Name+": "+n))
		}
	}
	for _, p := range l.Split {
		fmt.Fprintf(a.Err, "%s %s\n", a.Style(term.Yellow, "split:"), term.Clean(fmt.Sprintf("%s, %s, in the %s %s: belongs to %s", p.Directory, count(p.Topics, "topic"), p.Kind, p.Where, p.Store)))
		if p.Note != "" {
			fmt.Fprintf(a.Err, "  %s\n", term.Clean(p.Note))
		}
		if p.Merge != "" {
			fmt.Fprintf(a.Err, "  bring it there with: %s\n", term.Clean(p.Merge))
		}
	}
	a.notice(l.Notice)
}

// problemsFound gives counts by severity, the worst first.
func problemsFound(counts map[string]int) string {
	var parts []string
	for _, s := range []string{"error", "warning", "information", "hint"} {
		switch n := counts[s]; {
		case n > 0 && s == "information":
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		case n > 0:
			parts = append(parts, count(n, s))
		}
	}
	return strings.Join(parts, ", ")
}

func (a *app) mergeStoresCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge FROM [INTO]",
		Short: "Bring the memory FROM, a store or a folder of an agent's memory, into the store INTO (default: that of the same agent and scope); undo takes it back",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return term.Usage("merge takes one or two arguments: a store or a folder of an agent's memory, and the store that it goes into")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withProject(func(m *memory.Memory) error {
				from, err := agentmem.SourceOf(m, args[0])
				if err != nil {
					return err
				}
				name := from.Name.String()
				if len(args) == 2 {
					name = args[1]
				} else if !memdirPath(args[0]) {
					return term.Usage("say which store %s goes into: mem-mcp stores merge %s INTO", args[0], args[0])
				}
				into, err := m.Other(name)
				if err != nil {
					return err
				}
				got, err := working(a, "merging", func() (*agentmem.United, error) { return agentmem.Unite(cmd.Context(), from, into) })
				if err != nil {
					return errors.Join(a.explain(err), into.Close())
				}
				a.store = into.StoreName() // for the command that takes it back
				shown := a.show(got, func() { a.showUnited(got) })
				return errors.Join(shown, into.Close())
			})
		},
	}
}

// memdirPath reports whether what a person gave is a path and no store's name.
func memdirPath(given string) bool {
	name, err := memdir.ParseStore(given)
	return err != nil || name.Auto() && given != memdir.StoreAuto
}

func (a *app) showUnited(u *agentmem.United) {
	a.Printf("%s\n", term.Clean(u.Words()))
	for _, f := range u.Files {
		line := f.Action + "  " + term.Clean(f.Path)
		if f.To != "" && f.To != f.Path {
			line += " → " + term.Clean(f.To)
		}
		if f.Reason != "" {
			line += ": " + term.Clean(f.Reason)
		}
		a.Printf("  %s\n", line)
	}
	a.change(u.Change)
}

// searchAll searches every store that there is.
func searchAll(ctx context.Context, m *memory.Memory, o memory.SearchOptions) (*memory.Found, error) {
	names, err := agentmem.Names(ctx, m)
	if err != nil {
		return nil, err
	}
	var all []*memory.Memory
	var notes []string
	defer func() {
		for _, x := range all {
			_ = x.Close() // it was only read
		}
	}()
	if len(names) > memory.MaxShelf+1 {
		names = slices.Clip(names[:memory.MaxShelf+1]) // Search tells that there are more
	}
	for _, name := range names {
		x, err := m.Other(name)
		if err != nil {
			notes = append(notes, fmt.Sprintf("The store %s was not searched: %v", name, err))
			continue
		}
		all = append(all, x)
	}
	var shelf memory.Shelf
	f, err := shelf.Search(ctx, all, o)
	if err == nil {
		f.Note(notes...)
	}
	return f, err
}
