package lspcli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
	"mem/core/store"
	"mem/diagnostics"
	"mem/diagnostics/report"
	"mem/diagnostics/workspace"
	"mem/internal/term"
)

// fix is what the flags of the command say.
type fix struct {
	unsafe, diff bool
	rules        []string
	project      string
}

// mended is what became of one memory directory.
type mended struct {
	Directory string           `json:"directory"`
	Change    string           `json:"change"` // its id, for mem-mcp undo; "" when nothing was written
	Files     []mendedFile     `json:"files"`
	Mended    []mendedFinding  `json:"mended"`
	Refused   []refused        `json:"refused"`
	Left      []report.Finding `json:"left"`
	Unread    []report.Unread  `json:"unread"`
	Failures  []report.Failure `json:"failures"`
	Notes     []string         `json:"notes"`
	Diff      string           `json:"diff,omitempty"`  // with --diff
	Error     string           `json:"error,omitempty"` // why nothing was written

	target *target
	would  bool // with --diff: there is something to mend
}

type mendedFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created, updated
}

type mendedFinding struct {
	Rule  string `json:"rule"`
	Fix   string `json:"fix"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Title string `json:"title"`
}

type refused struct {
	Rule   string `json:"rule"`
	Fix    string `json:"fix"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (a *app) fixCommand() *cobra.Command {
	var o fix
	c := &cobra.Command{
		Use:   "fix [PATH…]",
		Short: "Mend what can be mended in memory directories",
		Long: "fix mends what can be mended: for each finding it makes the first fix that is safe, or with --unsafe the\n" +
			"first one. A PATH is as for check. What it wrote can be taken back: mem-mcp undo.\n\n" +
			"Exit codes: 0, also where findings are left that no fix mends; 1 when a change could not be made, and with\n" +
			"--diff when there is something to mend; 2 when a path cannot be used or not all could be looked at; 130\n" +
			"when it was interrupted.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.fix(cmd.Context(), o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.unsafe, "unsafe", false, "make fixes that need judgement, too")
	f.BoolVar(&o.diff, "diff", false, "write nothing; print what would change")
	ruleFlag(c, &o.rules)
	projectFlag(c, &o.project)
	return c
}

// projectFlag adds --project.
func projectFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "project", "", "directory of the project, whose .mem.yaml and instructions count (default: CLAUDE_PROJECT_DIR, else the working directory)")
}

func (a *app) fix(ctx context.Context, o fix, args []string) error {
	if err := errors.Join(knownRules(o.rules), a.projectThere(o.project)); err != nil {
		return err
	}
	p := a.startProgress()
	all, err := a.mendAll(ctx, o, args, p)
	p.stop()
	a.sayWarnings()
	if err != nil && ctx.Err() == nil {
		return err
	}
	if a.json {
		if err := a.JSON(struct {
			Directories []*mended `json:"directories"`
		}{all}); err != nil {
			return err
		}
	} else {
		for _, m := range all {
			a.showMended(o, m)
		}
	}
	for _, m := range all {
		switch {
		case len(m.Unread)+len(m.Failures) > 0:
			a.code = ExitUsage
		case a.code == ExitOK && (m.Error != "" || m.would):
			a.code = ExitFindings
		}
	}
	if ctx.Err() != nil {
		a.complain(errors.New("stopped before its end; what was mended until then is told"))
		a.code = ExitStopped
	}
	return nil
}

// mendAll mends one directory after the other, each in a change of its own.
func (a *app) mendAll(ctx context.Context, o fix, args []string, p *progress) ([]*mended, error) {
	all := []*mended{}
	p.say("looking for memory directories")
	found, problems, err := a.targets(ctx, args)
	if err != nil {
		return all, err
	}
	for i, t := range found {
		p.say("mending %s (%d of %d)", a.shown(t, ""), i+1, len(found))
		m, err := a.mend(ctx, o, t)
		if err != nil {
			return all, err
		}
		if i == 0 {
			for _, x := range problems {
				m.Unread = append(m.Unread, report.Unread{Path: a.shown(t, x.Path), Message: x.Message})
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// mend mends one directory. It fails for input that cannot be used and when ctx
// ends; why nothing was written is in the result.
func (a *app) mend(ctx context.Context, o fix, t *target) (*mended, error) {
	m := &mended{Directory: a.shown(t, ""), Files: []mendedFile{}, Mended: []mendedFinding{}, Refused: []refused{}, Left: []report.Finding{},
		Unread: []report.Unread{}, Failures: []report.Failure{}, Notes: []string{}, target: t}
	store, failed := memory.Open(memory.Options{Env: a.env, MemoryDir: t.dir, Project: o.project, Actor: "mem-lsp " + a.version})
	origin := ""
	switch {
	case failed == nil:
		defer store.Close() // what was written is written
		origin = store.Origin()
	case !o.diff:
		m.Error = why(failed)
		return m, nil
	}
	d, s, paths, err := a.open(ctx, t, o.project, origin)
	var input *inputError
	switch {
	case errors.As(err, &input), ctx.Err() != nil:
		return nil, errors.Join(err, ctx.Err())
	case err != nil:
		m.Unread = append(m.Unread, report.Unread{Path: m.Directory, Message: withoutFlags(err.Error())})
		return m, nil
	}
	defer d.Close() // it was only read
	fixed, err := d.FixAll(ctx, s, diagnostics.FixOptions{Rules: o.rules, Paths: paths, Unsafe: o.unsafe})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		m.Error = err.Error()
		return m, nil
	}
	a.tell(m, d.Engine, fixed)
	if fixed.Change.Empty() {
		return m, nil
	}
	if o.diff {
		m.would = true
		return m, a.fillDiff(m, fixed.Change)
	}
	done, err := store.Apply(ctx, fixed.Change)
	switch {
	case ctx.Err() != nil && done == nil:
		return nil, ctx.Err()
	case err != nil:
		m.Error = why(err)
		return m, a.tellOld(ctx, m, o, paths, d)
	}
	m.Change = done.ID
	for _, f := range fixed.Change.Files { // the result bounds what it lists
		action := "updated"
		if f.Kind == change.Create {
			action = "created"
		}
		m.Files = append(m.Files, mendedFile{a.shown(t, f.Path), action})
	}
	for _, l := range done.Vanished {
		m.Notes = append(m.Notes, term.ForPeople(memory.LossWords(l)))
	}
	for _, n := range done.Notes {
		if !slices.Contains(d.Warnings, n) { // these are said for all directories
			m.Notes = append(m.Notes, term.ForPeople(n))
		}
	}
	return m, nil
}

// tell fills in what was and was not mended.
func (a *app) tell(m *mended, e *diagnostics.Engine, fixed *diagnostics.Fixed) {
	shown := func(p string) string { return a.shown(m.target, p) }
	for _, x := range fixed.Applied {
		m.Mended = append(m.Mended, mendedFinding{x.Rule, x.Fix, shown(x.Path), x.Line, x.Title})
	}
	for _, x := range fixed.Refused {
		m.Refused = append(m.Refused, refused{x.Rule, x.Fix, shown(x.Path), x.Line, x.Reason})
	}
	m.Left = report.Findings(e, fixed.Left, shown)
	for _, u := range fixed.Result.Unread {
		if m.target.wants(u.Path) {
			m.Unread = append(m.Unread, report.Unread{Path: shown(u.Path), Message: u.Message})
		}
	}
	for _, f := range fixed.Result.Failures {
		m.Failures = append(m.Failures, report.Failure{Rule: f.Rule, Path: shown(f.Path), Message: f.Err.Error()})
	}
}

// tellOld fills in what is wrong in a directory that could not be written: what was
// told of the mended one never was.
func (a *app) tellOld(ctx context.Context, m *mended, o fix, paths []string, d *workspace.Directory) error {
	m.Mended, m.Refused, m.Left, m.Unread, m.Failures = []mendedFinding{}, []refused{}, []report.Finding{}, []report.Unread{}, []report.Failure{}
	s, err := d.Snapshot(ctx, nil) // another program may have written to it
	if err == nil {
		var r *diagnostics.Result
		if r, err = d.Check(ctx, s, diagnostics.Scope{Late: true}); err == nil {
			a.tell(m, d.Engine, &diagnostics.Fixed{Left: diagnostics.FixOptions{Rules: o.rules, Paths: paths}.Chosen(r.Findings), Result: r})
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		m.Unread = append(m.Unread, report.Unread{Path: m.Directory, Message: withoutFlags(err.Error())})
	}
	return nil
}

// withoutFlags takes out of a hint how mem-mcp is told to use another directory: here
// the directory is an argument.
func withoutFlags(s string) string { return strings.ReplaceAll(s, " with --memory-dir", "") }

// why says why a change could not be written, and what to do.
func why(err error) string {
	words := term.ForPeople(withoutFlags(err.Error()))
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		words += ". Another program wrote to the directory meanwhile; run it again"
	}
	return words
}

// fillDiff fills in what would change. A diff is copied into logs and comments, so
// secrets in it are redacted, though it then cannot be applied there.
func (a *app) fillDiff(m *mended, c change.Change) error {
	config, _ := settings.LoadConfig(a.env) // what is wrong with it was said when the directory was opened
	scanner, err := guard.New(guard.Options{Allow: config.Guard.Allow})
	if err != nil {
		return fmt.Errorf("guard.allow in %s: %w", a.env.ConfigFile(), err)
	}
	diff := a.diffOf(m.target, c)
	shown, _ := scanner.Redact([]byte(diff))
	if m.Diff = string(shown); m.Diff != diff {
		m.Notes = append(m.Notes, "what looks like a secret is redacted in the diff, which cannot be applied there")
	}
	return nil
}

// diffOf gives a change as a unified diff of paths as people can follow them.
func (a *app) diffOf(t *target, c change.Change) string {
	var b strings.Builder
	for _, f := range c.Files {
		after, _, err := f.After()
		if err != nil {
			continue // FixAll made the change from this very text
		}
		p := filepath.ToSlash(a.shown(t, f.Path))
		if strings.ContainsFunc(p, unicode.IsControl) {
			p = memdir.Shown(p, len(p)*8) // a name with a line break would end its line
		}
		from, to := p, p
		if !filepath.IsAbs(p) {
			from, to = "a/"+p, "b/"+p
		}
		if f.Kind == change.Create {
			from = "/dev/null"
		}
		b.WriteString(udiff.Unified(from, to, f.Base, after))
	}
	return b.String()
}

func (a *app) showMended(o fix, m *mended) {
	if m.Diff != "" {
		a.Printf("%s", a.Diff(a.Data(m.Diff)))
	}
	w := a.Out
	if o.diff {
		w = a.Err // beside the diff, which other programs read
	}
	say := func(c term.Colour, mark, format string, args ...any) {
		fmt.Fprintln(w, a.Style(c, mark), term.Clean(fmt.Sprintf(format, args...)))
	}
	verb := "mended"
	if o.diff {
		verb = "would mend"
	}
	for _, x := range m.Mended {
		say(term.Green, verb, "%s:%d: %s: %s", x.Path, x.Line, x.Rule, x.Title)
	}
	for _, x := range m.Refused {
		say(term.Yellow, "not mended", "%s:%d: %s: %s", x.Path, x.Line, x.Rule, x.Reason)
	}
	for _, u := range m.Unread {
		say(term.Yellow, "not checked:", "%s: %s", u.Path, u.Message)
	}
	for _, f := range m.Failures {
		say(term.Yellow, "not checked:", "%s by %s: %s", f.Path, f.Rule, f.Message)
	}
	for _, n := range m.Notes {
		say(term.Yellow, "note:", "%s", n)
	}
	if m.Error != "" {
		say(term.Red, "nothing written", "in %s: %s", m.Directory, m.Error)
	}
	if m.Change != "" {
		fmt.Fprintf(w, "change %s in %s %s\n", a.Style(term.Bold, m.Change), term.Clean(m.Directory),
			a.Style(term.Faint, fmt.Sprintf("(mem-mcp undo %s --memory-dir %s takes it back)", m.Change, term.Argument(m.target.dir))))
	}
	if n := len(m.Left); n > 0 {
		say(term.Faint, "left", "%s", a.leftWords(o, m))
	}
	if len(m.Mended)+len(m.Refused)+len(m.Left) == 0 && m.Error == "" && len(m.Unread) == 0 {
		say(term.Green, "nothing to mend", "in %s", m.Directory)
	}
}

// leftWords says what is left in a directory, and what would mend it.
func (a *app) leftWords(o fix, m *mended) string {
	n, judged := len(m.Left), 0
	for _, f := range m.Left {
		if slices.ContainsFunc(f.Fixes, func(x report.Fix) bool { return !x.Manual }) && !slices.ContainsFunc(f.Fixes, func(x report.Fix) bool { return x.Safe }) {
			judged++
		}
	}
	s := fmt.Sprintf("%d findings in %s; mem-lsp check shows them", n, m.Directory)
	if n == 1 {
		s = fmt.Sprintf("1 finding in %s; mem-lsp check shows it", m.Directory)
	}
	if judged > 0 && !o.unsafe {
		s += fmt.Sprintf(". --unsafe has fixes for %d, which need judgement", judged)
	}
	return s
}
