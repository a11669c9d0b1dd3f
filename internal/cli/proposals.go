package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/agentmem"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/internal/term"
)

// proposalRow is a proposal in a list.
type proposalRow struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Created  time.Time `json:"created"`
	Units    int       `json:"units"`
	Open     int       `json:"openUnits"`
	Deleting int       `json:"deletingUnits"`
}

// proposalUnit is a unit with its diffs.
type proposalUnit struct {
	ID      string              `json:"id"`
	Title   string              `json:"title"`
	Reason  string              `json:"reason,omitempty"`
	Sources []string            `json:"sources,omitempty"`
	Deletes bool                `json:"deletes"`
	State   string              `json:"state"`
	Change  string              `json:"change,omitempty"`
	Note    string              `json:"note,omitempty"`
	Files   []proposal.FileDiff `json:"files,omitempty"`
}

// proposalDetail is a proposal with all that it does.
type proposalDetail struct {
	proposalRow
	Job          string         `json:"job,omitempty"`
	SupersededBy string         `json:"supersededBy,omitempty"`
	Report       string         `json:"report,omitempty"`
	List         []proposalUnit `json:"list"`
}

// proposalDone is what a decision did.
type proposalDone struct {
	proposalRow
	Change  string         `json:"change"`
	Decided []proposalUnit `json:"decided"`
	Held    []proposalUnit `json:"held"`
	Already int            `json:"alreadyDecided,omitempty"`
	Result  *memory.Change `json:"result,omitempty"`
}

func rowOf(x *proposal.Proposal) proposalRow {
	r := proposalRow{ID: x.ID, Kind: x.Kind, Title: x.Title, State: string(x.State), Created: x.Created, Units: len(x.Units), Open: x.OpenUnits()}
	for _, u := range x.Units {
		if u.State == proposal.Open && u.Deletes {
			r.Deleting++
		}
	}
	return r
}

// unitsOf shows units, secrets taken out of their words.
func unitsOf(m *memory.Memory, units []proposal.Unit) []proposalUnit {
	clean := func(s string) string {
		b, _ := m.Guard().Redact([]byte(s))
		return string(b)
	}
	out := []proposalUnit{}
	for _, u := range units {
		out = append(out, proposalUnit{ID: u.ID, Title: clean(u.Title), Reason: clean(u.Reason), Sources: u.Sources, Deletes: u.Deletes, State: string(u.State), Change: u.Applied, Note: clean(u.Note)})
	}
	return out
}

func (a *app) proposalsCommand() *cobra.Command {
	var o proposal.ListOptions
	var all bool
	c := &cobra.Command{
		Use:   "proposals",
		Short: "List changes to memory that a job proposed and that wait for you",
		Args:  term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				o.Open = !all
				list, notes, err := proposal.Of(m).List(o)
				if err != nil {
					return err
				}
				rows := []proposalRow{}
				for _, x := range list {
					rows = append(rows, rowOf(x))
				}
				for _, n := range notes {
					fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.Clean(n))
				}
				return a.show(rows, func() { a.showProposals(rows) })
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "those that were decided in the last 90 days, too")
	c.Flags().StringVar(&o.Kind, "kind", "", "only of this kind of job")
	c.AddCommand(a.proposalShowCommand(), a.proposalApplyCommand(), a.proposalDiscardCommand())
	return c
}

func (a *app) showProposals(list []proposalRow) {
	var rows [][]string
	for _, x := range list {
		what := fmt.Sprintf("%d of %d", x.Open, x.Units)
		if x.Deleting > 0 {
			what += fmt.Sprintf(", %d delete", x.Deleting)
		}
		rows = append(rows, []string{x.ID, x.Created.Local().Format("2006-01-02 15:04"), x.Kind, x.State, what, x.Title})
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.Err, "no proposal waits")
		return
	}
	a.Table([]string{"proposal", "made", "job", "state", "open units", "what"}, rows)
}

func (a *app) proposalShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show what a proposal does, as diffs with reasons",
		Args:  term.OneArg("the id of a proposal; mem-mcp proposals lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				p := proposal.Of(m)
				x, err := p.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				report, _ := m.Guard().Redact([]byte(x.Report))
				d := proposalDetail{proposalRow: rowOf(x), Job: x.Job, SupersededBy: x.SupersededBy, Report: string(report)}
				for i, u := range x.Units {
					if why := p.Conflicts(u); why != "" {
						x.Units[i].Note = why
					}
				}
				d.List = unitsOf(m, x.Units)
				for i, u := range x.Units {
					d.List[i].Files = p.Diffs(u)
				}
				return a.show(d, func() { a.showProposal(d) })
			})
		},
	}
}

func (a *app) showProposal(d proposalDetail) {
	a.Printf("%s %s\n", a.Style(term.Bold, term.Clean(d.Title)), a.Style(term.Faint, fmt.Sprintf("(%s, %s, %s)", d.ID, term.Clean(d.Kind), d.State)))
	if d.SupersededBy != "" {
		a.Printf("superseded by %s\n", term.Clean(d.SupersededBy))
	}
	if d.Report != "" {
		a.Printf("\n%s\n", a.Data(strings.TrimRight(d.Report, "\n")))
	}
	for _, u := range d.List {
		a.Printf("\n")
		a.showUnit(u)
		for _, f := range u.Files {
			a.Printf("%s", a.Diff(a.Data(f.Diff)))
		}
	}
	if d.Open > 0 {
		where := a.elsewhere()
		fmt.Fprintf(a.Err, "apply it: mem-mcp proposals apply %s%s (or parts of it, with --unit or --file); or: mem-mcp proposals discard %s%s\n", d.ID, where, d.ID, where)
	}
}

func (a *app) showUnit(u proposalUnit) {
	mark := ""
	if u.Deletes {
		mark = " " + a.Style(term.Red, "[deletes]")
	}
	a.Printf("%s %s%s %s\n", a.Style(term.Bold, "unit "+term.Clean(u.ID)+":"), term.Clean(u.Title), mark, a.Style(term.Faint, "("+u.State+")"))
	if u.Reason != "" {
		a.Printf("  reason: %s\n", term.Clean(u.Reason))
	}
	for _, s := range u.Sources {
		a.Printf("  from: %s\n", term.Clean(s))
	}
	if u.Note != "" {
		a.Printf("  %s %s\n", a.Style(term.Yellow, "note:"), strings.ReplaceAll(term.Visible(u.Note), "\n", "\n  "))
	}
}

func whichFlags(c *cobra.Command, w *proposal.Which) {
	c.Flags().StringArrayVar(&w.Units, "unit", nil, "only this unit (can be given more than once)")
	c.Flags().StringArrayVar(&w.Files, "file", nil, "only units that do something to this file (can be given more than once)")
}

func (a *app) proposalApplyCommand() *cobra.Command {
	var w proposal.Which
	c := &cobra.Command{
		Use:   "apply ID",
		Short: "Apply a proposal, or parts of it, as one change that can be undone",
		Args:  term.OneArg("the id of a proposal; mem-mcp proposals lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				d, err := working(a, "applying the proposal", func() (*proposal.Done, error) { return proposal.Of(m).Apply(cmd.Context(), args[0], w) })
				if err != nil {
					return a.explain(err)
				}
				if err := a.showDone(m, d); err != nil {
					return err
				}
				if len(d.Held) > 0 {
					return errors.New("not all of it could be applied; what could not is still open, with the reason")
				}
				return nil
			})
		},
	}
	whichFlags(c, &w)
	return c
}

func (a *app) proposalDiscardCommand() *cobra.Command {
	var w proposal.Which
	var reason string
	c := &cobra.Command{
		Use:   "discard ID",
		Short: "Decide that a proposal, or parts of it, are not to be applied",
		Args:  term.OneArg("the id of a proposal; mem-mcp proposals lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				d, err := proposal.Of(m).Hearing(agentmem.Discarders()).Discard(cmd.Context(), args[0], w, reason)
				if err != nil {
					return err
				}
				return a.showDone(m, d)
			})
		},
	}
	whichFlags(c, &w)
	c.Flags().StringVar(&reason, "reason", "", "why, for whoever looks at it later")
	return c
}

func (a *app) showDone(m *memory.Memory, d *proposal.Done) error {
	out := proposalDone{proposalRow: rowOf(d.Proposal), Change: d.Change, Decided: unitsOf(m, d.Applied), Held: unitsOf(m, d.Held), Already: len(d.Already), Result: d.Result}
	return a.show(out, func() {
		for _, u := range append(out.Decided, out.Held...) {
			a.showUnit(u)
		}
		if out.Already > 0 {
			a.Printf("%d units were decided before\n", out.Already)
		}
		if d.Result != nil {
			a.change(*d.Result)
		}
	})
}
