package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/hook"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/transcript"
	"mem/internal/term"
)

func (a *app) hookCommand() *cobra.Command {
	var client, event string
	var explain bool
	c := &cobra.Command{
		Use:   "hook",
		Short: "What a client calls at its events, with the event on standard input; mem-mcp hooks installs it",
		Long: "hook reads what a client sends to its hooks and does what there is to do at that event. It never fails and never\n" +
			"keeps a session waiting for longer than " + hook.Limit.String() + ": whatever is wrong is one line on standard error.\n\n" +
			"With --explain it says which jobs would start and why not, and does nothing. Without an event on standard input\n" +
			"it takes the end of a turn in the session of CLAUDE_CODE_SESSION_ID, else in the newest one of the project.",
		// An exit code other than 0 would block a prompt or force another turn.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if explain {
				return a.explainHook(cmd.Context(), client, event)
			}
			if len(args) > 0 {
				a.hookNote("arguments are ignored: " + strings.Join(args, " "))
			}
			a.runHook(cmd.Context(), client)
			return nil
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.hookNote(err.Error())
		return nil
	})
	c.Flags().StringVar(&client, "client", "", "which client calls: "+strings.Join(hook.ClientNames(), ", ")+" (default the first)")
	c.Flags().BoolVar(&explain, "explain", false, "only say what would start, and why not")
	c.Flags().StringVar(&event, "event", "", "with --explain: the event, instead of one on standard input")
	return c
}

// hookNote prints one line on standard error.
func (a *app) hookNote(text string) {
	fmt.Fprintln(a.Err, "mem-mcp hook:", term.Visible(term.ForPeople(strings.Join(strings.Fields(text), " "))))
}

// runHook does the work aside, so that nothing that hangs, standard input included,
// keeps a session waiting.
func (a *app) runHook(ctx context.Context, client string) {
	ctx, cancel := context.WithTimeout(ctx, hook.Limit)
	defer cancel()
	done := make(chan *hook.Outcome, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- &hook.Outcome{Notes: []string{fmt.Sprintf("a fault of mem, please report it: %v at %s", p, firstFrame())}}
			}
		}()
		done <- a.hookOutcome(ctx, client)
	}()
	select {
	case out := <-done:
		for _, n := range out.Notes {
			a.hookNote(n)
		}
		_, _ = a.Out.Write(out.Output) // a client that does not read does not want it
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			a.hookNote(fmt.Sprintf("gave up after %s, so that the session goes on", hook.Limit))
		}
	}
}

func (a *app) hookOutcome(ctx context.Context, client string) *hook.Outcome {
	c, err := hook.ClientNamed(client)
	if err != nil {
		return &hook.Outcome{Notes: []string{err.Error()}}
	}
	t, err := hook.Read(c, a.In)
	if err != nil {
		return &hook.Outcome{Notes: []string{err.Error()}}
	}
	return a.hook().Run(ctx, t)
}

// hook wires what core/hook needs.
func (a *app) hook() *hook.Hook {
	jobs := map[string]hook.Afterwards{}
	for kind, k := range jobKinds {
		if k.after != nil {
			jobs[kind] = k.after(a)
		}
	}
	return &hook.Hook{
		Env: a.env, Version: a.version, Jobs: jobs, Offers: hookOffers,
		Open: func(t *hook.Turn) (*memory.Memory, error) {
			o := a.options()
			switch {
			case o.Project != "" || t.Cwd == "":
			case t.Client.Name == hook.Clients[0].Name:
				o.Roots = []string{t.Cwd} // CLAUDE_PROJECT_DIR comes before it
			default:
				o.Project = t.Cwd // that variable may be left from a client around this one
			}
			return memory.Open(o)
		},
		Start: func(c hook.Case, r *job.Record) (int, error) { return a.startJob(c.Memory, c.Jobs, r) },
	}
}

// hookOffers are what a new conversation is told besides memory and waiting jobs.
var hookOffers []hook.Offer

func (a *app) explainHook(ctx context.Context, client, event string) error {
	c, err := hook.ClientNamed(client)
	if err != nil {
		return err
	}
	t := &hook.Turn{Client: c, Event: hook.Stop}
	if event != "" {
		if t.Event = hook.Event(event); !slices.Contains(hook.Events, t.Event) {
			return term.Usage("there is no event %q; there are %s", event, eventNames())
		}
	}
	given := false
	if event == "" && !a.InTerminal {
		switch read, err := hook.Read(c, a.In); {
		case err == nil:
			t, given = read, true
		case !errors.Is(err, hook.ErrEmpty):
			return err
		}
	}
	if !given {
		if err := a.thisSession(ctx, t); err != nil {
			return err
		}
		if !a.json && t.Session != "" {
			a.Printf("%s of the session %s\n", t.Event, term.Clean(t.Session))
		}
	}
	out := a.hook().Explain(ctx, t)
	return a.show(out, func() {
		for _, n := range out.Notes {
			a.Printf("%s\n", a.Data(n))
		}
		var rows [][]string
		for _, ch := range out.Checks {
			state := "closed"
			if ch.Open {
				state = "starts"
			}
			rows = append(rows, []string{ch.Job, state, term.Clean(strings.Join(ch.Reasons, "; ")), ch.Took.Round(time.Microsecond).String()})
		}
		if len(rows) > 0 {
			a.Table([]string{"job", "", "why", "took"}, rows)
		} else if len(out.Notes) == 0 {
			a.Printf("no job is checked at %s\n", t.Event)
		}
	})
}

// thisSession fills in the session that somebody means who names none: the one that the
// client says this process belongs to, else the newest of the project.
func (a *app) thisSession(ctx context.Context, t *hook.Turn) error {
	t.Cwd = a.env.Cwd
	return a.withMemory(func(m *memory.Memory) error {
		ref := a.env.Getenv("CLAUDE_CODE_SESSION_ID")
		if ref == "" {
			ref = "latest"
		}
		x, err := transcript.Pick(ctx, a.env, transcript.FindOptions{Project: m.Location.Project, Shallow: true}, ref)
		var none *transcript.NotFoundError
		switch {
		case errors.As(err, &none): // the checks say that there is no transcript
			return nil
		case err != nil:
			return err
		}
		t.Session, t.Transcript = x.ID, x.Path
		return nil
	})
}

func eventNames() string {
	var names []string
	for _, e := range hook.Events {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

// firstFrame is the place of ours where a panic happened.
func firstFrame() string {
	for _, line := range strings.Split(string(debug.Stack()), "\n") {
		line = strings.TrimSpace(line)
		if i := strings.Index(line, ".go:"); i > 0 && strings.Contains(line, "/core/") {
			return line[strings.Index(line, "/core/")+1:]
		}
	}
	return "an unknown place"
}
