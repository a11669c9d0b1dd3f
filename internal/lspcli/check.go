package lspcli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mem/core/memdir"
	"mem/core/project"
	"mem/diagnostics"
	"mem/diagnostics/report"
	"mem/diagnostics/workspace"
	"mem/docs"
	"mem/internal/term"
)

// The values of flags.
var (
	formats    = []string{"text", "json", "sarif", "github"}
	severities = []string{"error", "warning", "information", "hint"}
)

const never = "never" // --fail-on: findings do not decide the exit code

// check is what the flags of the command say.
type check struct {
	format    string
	failOn    string
	rules     []string
	noSecrets bool
	project   string
}

func (a *app) checkCommand() *cobra.Command {
	var o check
	c := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Say what is wrong with memory directories",
		Long: "check says what is wrong with memory directories. A PATH is one, a file or folder in one, or a tree to\n" +
			"search for them; without one it is the working directory.\n\n" +
			"Exit codes: 0; 1 when there are findings of --fail-on or worse; 2 when a path cannot be used or not all\n" +
			"could be checked; 130 when it was interrupted.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && cmd.Flags().Changed("format") && o.format != "json" {
				return term.Usage("--json and --format %s do not go together", o.format)
			}
			if a.json {
				o.format = "json"
			}
			return a.check(cmd.Context(), o, args)
		},
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", "text", "text, json, sarif, or github (workflow commands)")
	f.StringVar(&o.failOn, "fail-on", "warning", "exit with 1 for findings of this severity or worse: error, warning, information, hint, or never")
	ruleFlag(c, &o.rules)
	f.BoolVar(&o.noSecrets, "no-secrets", false, "leave out the search for secrets, which takes longest")
	projectFlag(c, &o.project)
	return c
}

func (a *app) check(ctx context.Context, o check, args []string) error {
	if err := term.OneOf("format", o.format, formats); err != nil {
		return err
	}
	failOn := diagnostics.Error + 1
	if o.failOn != never {
		if err := term.OneOf("fail-on", o.failOn, append(slices.Clone(severities), never)); err != nil {
			return err
		}
		failOn, _ = diagnostics.ParseSeverity(o.failOn) // it is one of them
	}
	if err := errors.Join(knownRules(o.rules), a.projectThere(o.project)); err != nil {
		return err
	}
	p := a.startProgress()
	r, err := a.findings(ctx, o, args, p)
	p.stop()
	a.sayWarnings()
	if err != nil {
		return err
	}
	if err := a.report(o.format, r); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	switch {
	case ctx.Err() != nil:
		a.complain(errors.New("stopped before its end; what was checked until then is told"))
		a.code = ExitStopped
	case !r.Complete():
		a.code = ExitUsage
	case r.Worst() >= failOn:
		a.code = ExitFindings
	}
	return nil
}

// findings checks one directory after the other. It is stopped with what it has
// found so far; directories whose turn did not come are told as unread.
func (a *app) findings(ctx context.Context, o check, args []string, p *progress) (*report.Report, error) {
	p.say("looking for memory directories")
	found, problems, err := a.targets(ctx, args)
	if err != nil {
		return nil, err
	}
	r := report.New()
	for _, x := range problems {
		x.Path = a.shown(found[0], x.Path)
		r.Skip(x)
	}
	for i, t := range found {
		p.say("checking %s (%d of %d)", a.shown(t, ""), i+1, len(found))
		err := a.checkOne(ctx, o, t, r)
		var input *inputError
		switch {
		case errors.As(err, &input):
			return nil, err
		case ctx.Err() != nil:
			r.Skip(memdir.Problem{Path: a.shown(t, ""), Message: "was not checked to its end: it was interrupted."})
		case err != nil:
			r.Skip(memdir.Problem{Path: a.shown(t, ""), Message: err.Error()})
		}
	}
	if o.rules != nil {
		r.Keep(o.rules)
	}
	return r, nil
}

// inputError is an argument that cannot be used.
type inputError struct{ error }

func (a *app) checkOne(ctx context.Context, o check, t *target, r *report.Report) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d, s, paths, err := a.open(ctx, t, o.project, "")
	if err != nil {
		return err
	}
	late := !o.noSecrets && (o.rules == nil || slices.ContainsFunc(o.rules, func(id string) bool { return d.Engine.Rule(id).Late }))
	res, err := d.Check(ctx, s, diagnostics.Scope{Paths: paths, Late: late})
	if err != nil {
		return errors.Join(err, d.Close())
	}
	res.Unread = slices.DeleteFunc(res.Unread, func(x memdir.Problem) bool { return !t.wants(x.Path) })
	r.Add(d.Engine, res, func(p string) string { return a.shown(t, p) })
	return d.Close()
}

// bodyBytes is how much of a directory's texts a command keeps between reading and
// checking it: those of 20,000 usual topics.
const bodyBytes = 48 << 20

// open opens the directory of a target and reads it. origin is the session that
// topics made by a fix carry; paths are the files that are asked for, nil for all.
func (a *app) open(ctx context.Context, t *target, named, origin string) (*workspace.Directory, *diagnostics.Snapshot, []string, error) {
	d, err := workspace.Open(t.dir, workspace.Options{Env: a.env, Project: a.project(named), Origin: origin, BodyBytes: bodyBytes})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, w := range d.Warnings {
		a.warn(w)
	}
	s, err := d.Snapshot(ctx, nil)
	if err != nil {
		return nil, nil, nil, errors.Join(err, d.Close())
	}
	paths, err := t.scope(s)
	if err != nil {
		return nil, nil, nil, errors.Join(&inputError{err}, d.Close())
	}
	return d, s, paths, nil
}

// project gives the folder of the project that is worked on.
func (a *app) project(named string) string {
	for _, dir := range []string{named, a.env.Getenv("CLAUDE_PROJECT_DIR"), a.env.Cwd} {
		if dir != "" {
			return dir
		}
	}
	return ""
}

// projectThere refuses a --project that is none: without its .mem.yaml and instructions
// not everything would be looked at.
func (a *app) projectThere(named string) error {
	if named == "" {
		return nil
	}
	_, err := project.Find(named, a.env.ProjectOptions())
	return err
}

// report prints what was found.
func (a *app) report(format string, r *report.Report) error {
	switch format {
	case "json":
		return report.JSON(a.Out, r)
	case "sarif":
		return report.SARIF(a.Out, r, report.Tool{Version: a.version, Rules: workspace.NewEngine(nil).Rules, Page: docs.RulePage})
	case "github":
		return report.GitHub(a.Out, r)
	}
	err := report.Text(a.Out, r, a.look())
	if !a.Terminal {
		fmt.Fprintln(a.Err, report.Summary(r)) // beside the lines, which are for programs
	}
	return err
}

// look gives the text format the colours of the terminal.
func (a *app) look() report.Look {
	colours := map[report.Part]term.Colour{
		report.AsPath: term.Bold, report.AsError: term.Red, report.AsWarning: term.Yellow, report.AsInformation: term.Blue,
		report.AsHint: term.Faint, report.AsRule: term.Bold, report.AsAside: term.Faint, report.AsGood: term.Green,
	}
	return report.Look{Terminal: a.Terminal, Width: a.Width, Paint: func(p report.Part, s string) string { return a.Style(colours[p], s) }}
}
