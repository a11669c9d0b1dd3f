package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/project"
	"mem/internal/term"
)

func (a *app) snapshotCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Share what an agent learnt with a team through git: status, pull, publish, setup",
		Args:  term.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.snapshotStatus(cmd.Context(), "") },
	}
	c.AddCommand(a.snapshotStatusCommand(), a.snapshotPullCommand(), a.snapshotPublishCommand(), a.snapshotSetupCommand())
	return c
}

// oneAgent is the argument of a command about one agent.
func oneAgent(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return term.Usage("snapshot %s takes one argument: the agent; mem-mcp snapshot status lists them", command)
		}
		return nil
	}
}

func (a *app) snapshotStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [AGENT]",
		Short: "Tell how agents' memories and the team's snapshots stand to each other",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usage("snapshot status takes at most one argument: the agent")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.snapshotStatus(cmd.Context(), strings.Join(args, ""))
		},
	}
}

// theProject finds the project that the flags name.
func (a *app) theProject() (project.Project, error) {
	l, err := memdir.Locate(a.env, memdir.LocateOptions{Project: a.project})
	return l.Project, err
}

func (a *app) snapshotStatus(ctx context.Context, agent string) error {
	p, err := a.theProject()
	if err != nil {
		return err
	}
	o, err := working(a, "comparing with the snapshots", func() (*agentmem.Overview, error) { return agentmem.Overlook(ctx, a.options(), p, agent, 0) })
	if err != nil {
		return err
	}
	return a.show(o, func() {
		if len(o.Agents) == 0 {
			fmt.Fprintf(a.Err, "no agent has a project memory or a snapshot in %s\n", term.Clean(o.Snapshots))
		}
		for _, st := range o.Agents {
			a.showSnapshot(st)
			if len(o.Agents) == 1 {
				a.snapshotNext(st)
			}
		}
		a.snapshotNotes(o.Notes)
	})
}

func (a *app) showSnapshot(st *agentmem.Status) {
	words := term.Clean(st.Words())
	if name, rest, ok := strings.Cut(words, ": "); ok {
		words = a.Style(term.Bold, name) + ": " + rest
	}
	a.Printf("%s\n", words)
	for _, f := range st.Files {
		line := term.Clean(f.Words())
		if len(f.Parts) > 0 {
			line = a.Style(term.Red, line)
		}
		a.Printf("  %s\n", line)
	}
	if st.State == agentmem.StateInvalid {
		for _, p := range st.Problems {
			a.Printf("  %s\n", a.Style(term.Red, term.Clean(p.String())))
		}
	}
	a.snapshotNotes(st.Notes)
}

// snapshotNext says what can be done about a state.
func (a *app) snapshotNext(st *agentmem.Status) {
	next := func(words string, args ...any) {
		fmt.Fprintf(a.Err, "mem-mcp snapshot "+words+"\n", args...)
	}
	agent := shellQuote(st.Agent)
	var conflict, removed string
	free := false
	for _, f := range st.Files {
		switch {
		case len(f.Parts) > 0 && conflict == "":
			conflict = f.Path
		case f.Team == "removed" && removed == "":
			removed = f.Path
		}
		free = free || f.Team != "" && f.Team != "removed" && len(f.Parts) == 0
	}
	switch {
	case st.State == agentmem.StateNone && st.Topics > 0, st.State == agentmem.StateAhead:
		next("publish %s shows what the team would get", agent)
	case st.Action == agentmem.ActionInitialize:
		next("pull %s copies it", agent)
	case st.Action == agentmem.ActionPromptUpdate && st.Older:
		next("pull %s --take theirs:PATH takes single topics of it; check out the newer one for the rest", agent)
	case st.Action == agentmem.ActionPromptUpdate:
		if free || st.MoreFiles > 0 {
			next("pull %s --apply takes what neither conflicts nor deletes", agent)
		}
		if conflict != "" {
			next("pull %s --take %s keeps both texts; theirs, mine or skip in place of both; a third part, :PART, decides about one part", agent, shellQuote("both:"+conflict))
		}
		if removed != "" {
			next("pull %s --take %s removes it here as well; skip keeps it", agent, shellQuote("theirs:"+removed))
		}
	}
}

func (a *app) snapshotNotes(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.ForPeople(term.Clean(n)))
	}
}

func (a *app) snapshotPullCommand() *cobra.Command {
	var o agentmem.PullOptions
	var take []string
	c := &cobra.Command{
		Use:   "pull AGENT",
		Short: "Take news of the team into an agent's memory; without --apply or --take, show them",
		Args:  oneAgent("pull"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			for _, t := range take {
				w, err := parseWish(t)
				if err != nil {
					return err
				}
				o.Wishes = append(o.Wishes, w)
			}
			s, err := agentmem.Open(a.options(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			p, err := working(a, "comparing with the snapshot", func() (*agentmem.Pulled, error) { return s.Pull(cmd.Context(), o) })
			if err != nil {
				return err
			}
			return a.show(p, func() { a.showPulled(p) })
		},
	}
	c.Flags().BoolVar(&o.Apply, "apply", false, "take all that neither conflicts nor deletes")
	c.Flags().StringArrayVar(&take, "take", nil, `decide about a topic: CHOICE:PATH or CHOICE:PATH:PART, where CHOICE is theirs, mine, both or skip and PATH may be "*"`)
	c.Flags().BoolVar(&o.Accept, "accept", false, "take commands to the reader and hidden characters that the guard found, and an older snapshot: you have read it; secrets need --allow-secrets")
	return c
}

// parseWish reads CHOICE:PATH[:PART].
func parseWish(s string) (agentmem.Wish, error) {
	f := strings.SplitN(s, ":", 3)
	if len(f) < 2 || f[1] == "" {
		return agentmem.Wish{}, term.Usage("--take %s: give CHOICE:PATH or CHOICE:PATH:PART, such as theirs:build.md", s)
	}
	w := agentmem.Wish{Choice: agentmem.Choice(f[0]), Path: f[1]}
	if len(f) == 3 {
		w.Part = f[2]
	}
	return w, nil
}

func (a *app) showPulled(p *agentmem.Pulled) {
	if p.Initialized {
		a.Printf("copied the snapshot\n")
	}
	for _, f := range p.Files {
		a.Printf("  %s  %s\n", f.Action, term.Clean(f.Path))
	}
	if p.MoreFiles > 0 {
		a.Printf("  and %d more files\n", p.MoreFiles)
	}
	if p.ID != "" {
		a.Printf("mem-mcp --store agent/%s/project undo %s takes it back\n", p.Left.Agent, p.ID)
	}
	a.showSnapshot(p.Left)
	if p.Text != "" {
		a.Printf("\n%s\n", a.Data(p.Text))
	}
	a.snapshotNext(p.Left)
	a.notice(p.Notice)
}

func (a *app) snapshotPublishCommand() *cobra.Command {
	var o agentmem.PublishOptions
	var dryRun, yes bool
	c := &cobra.Command{
		Use:   "publish AGENT",
		Short: "Bring what is new in an agent's project memory into the snapshot that the team gets by git",
		Args:  oneAgent("publish"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			s, err := agentmem.Open(a.options(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			o.Confirm = yes && !dryRun
			p, err := working(a, "comparing with the snapshot", func() (*agentmem.Published, error) { return s.Publish(cmd.Context(), o) })
			if err != nil {
				return err
			}
			if p.DryRun && !dryRun && !a.json && a.Terminal && len(p.Files) > 0 {
				a.showPublished(p)
				switch yes, asked := a.Ask(cmd.Context(), "Publish it?"); {
				case !asked:
					fmt.Fprintln(a.Err, "publish it with --yes")
					return nil
				case !yes:
					return errors.New("nothing was published")
				}
				o.Confirm, o.Plan = true, p.Plan
				if p, err = working(a, "publishing", func() (*agentmem.Published, error) { return s.Publish(cmd.Context(), o) }); err != nil {
					return err
				}
			}
			return a.show(p, func() {
				a.showPublished(p)
				if p.DryRun && !dryRun && len(p.Files) > 0 {
					fmt.Fprintln(a.Err, "publish it with --yes")
				}
			})
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be published")
	c.Flags().BoolVar(&yes, "yes", false, "publish without asking")
	c.Flags().StringArrayVar(&o.Only, "only", nil, "only this topic (may be given several times)")
	c.Flags().StringArrayVar(&o.Allow, "allow", nil, "let through what is held back for personal data: its item, or the path of the topic")
	c.Flags().StringVar(&o.Note, "note", "", "a note for the team")
	return c
}

func (a *app) showPublished(p *agentmem.Published) {
	for _, line := range p.Words() {
		a.Printf("%s\n", term.Clean(line))
	}
	if p.Diff != "" {
		a.Printf("%s", a.Diff(a.Data(p.Diff)))
	}
	a.snapshotNotes(p.Notes)
}

func (a *app) snapshotSetupCommand() *cobra.Command {
	var write bool
	var program string
	c := &cobra.Command{
		Use:   "setup",
		Short: "Look whether git merges snapshots well and ignores what is not for the team; --write sets it up",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.theProject()
			if err != nil {
				return err
			}
			if program == "" {
				self, err := os.Executable()
				if err != nil {
					return fmt.Errorf("the path of this program is unknown (%w); name it with --program", err)
				}
				program = shellQuote(filepath.ToSlash(self))
			}
			r, err := working(a, "looking at the checkout", func() (*agentmem.SetupReport, error) {
				return agentmem.Setup(cmd.Context(), p, agentmem.SetupOptions{Write: write, Program: program})
			})
			if err != nil {
				return err
			}
			return a.show(r, func() { a.showSetup(r) })
		},
	}
	c.Flags().BoolVar(&write, "write", false, "write what is missing: .gitattributes and .gitignore of the checkout, .git/config of this clone")
	c.Flags().StringVar(&program, "program", "", "command that git runs (default: the path of this program)")
	return c
}

// shellQuote writes a path as git's shell reads it.
func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._:-+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (a *app) showSetup(r *agentmem.SetupReport) {
	missing := false
	for _, c := range r.Checks {
		a.Printf("%-8s %s\n", c.State, term.Clean(c.What))
		if c.Detail != "" {
			a.Printf("         %s\n", term.Clean(c.Detail))
		}
		for _, line := range c.Lines {
			a.Printf("         %s: %s\n", term.Clean(c.File), term.Clean(line))
		}
		missing = missing || (c.State == "missing" && len(c.Lines) > 0)
	}
	if missing {
		fmt.Fprintln(a.Err, "mem-mcp snapshot setup --write writes these lines")
	}
	a.snapshotNotes(r.Notes)
}
