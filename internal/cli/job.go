package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/fork"
	"mem/core/hook"
	"mem/core/job"
	"mem/core/memory"
	"mem/internal/term"
)

// jobKind is a kind of job as the command line knows it.
type jobKind struct {
	// after is the check that a hook makes; nil where no event starts such a job.
	after func(a *app) hook.Afterwards
	// run does the job. It ends the run; where it does not, its error, or that there is none,
	// says how it ended.
	run func(ctx context.Context, a *app, m *memory.Memory, jobs *job.Jobs, r *job.Run) error
}

// jobKinds are all kinds, each added where it is written.
var jobKinds = map[string]jobKind{}

const (
	// jobWall ends the process of a job whatever it does. Each kind has a limit of its own,
	// which is far below.
	jobWall = time.Hour
	// jobGrace is what a job has to end after that, or after a signal.
	jobGrace = 5 * time.Second
)

func (a *app) jobCommand() *cobra.Command {
	c := &cobra.Command{Use: "job", Hidden: true, Short: "What mem starts by itself", Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return term.Usage("mem-mcp jobs is for people") }}
	run := &cobra.Command{
		Use: "run ID", Short: "Run a job that was created", Args: term.OneArg("the id of a job"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runJob(cmd.Context(), args[0]) },
	}
	a.serveFlags(run)
	c.AddCommand(run)
	return c
}

// startJob starts a process that runs a job on its own.
func (a *app) startJob(m *memory.Memory, jobs *job.Jobs, r *job.Record) (pid int, err error) {
	path, err := ownPath()
	if err != nil {
		return 0, err
	}
	args := []string{"job", "run", r.ID, "--project", m.Location.Project.Dir}
	if a.memoryDir != "" {
		args = append(args, "--memory-dir", m.Location.Directory)
	}
	if store := m.StoreName(); store != memory.StoreAuto && store != "" {
		args = append(args, "--store", store)
	}
	if a.dailyLog {
		args = append(args, "--daily-log")
	}
	return job.Detach(job.Program{Path: path, Args: args, Env: os.Environ(), Log: jobs.Log(r.ID)})
}

// ownPath is where this program lies, by the name under which it was started: a link
// that the next version moves is better than the file it leads to today.
func ownPath() (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program mem-mcp itself: %w", err)
	}
	name, err := exec.LookPath(os.Args[0])
	if err == nil {
		name, err = filepath.Abs(name)
	}
	if err != nil {
		return real, nil
	}
	asked, err1 := os.Stat(name)
	running, err2 := os.Stat(real)
	if err1 != nil || err2 != nil || !os.SameFile(asked, running) {
		return real, nil
	}
	return name, nil
}

// runJob runs a job in this process, and sees to it that its record ends with it.
func (a *app) runJob(ctx context.Context, id string) error {
	if fork.Inside(a.env) {
		return fmt.Errorf("%s is set: no job runs inside of a forked agent", fork.EnvInside)
	}
	a.Err = &bounded{to: a.Err, left: job.LogBytes}
	return a.withMemory(func(m *memory.Memory) error {
		jobs := job.Open(m.StateDirectory(), a.env)
		rec, err := jobs.Get(id)
		if err != nil {
			return err
		}
		k, ok := jobKinds[rec.Kind]
		ctx, cancel := context.WithTimeout(ctx, jobWall)
		defer cancel()
		ctx, run, err := jobs.Begin(ctx, rec.ID)
		if err != nil {
			return err
		}
		if !ok || k.run == nil {
			err := fmt.Errorf("this version of mem cannot run jobs of the kind %q", rec.Kind)
			return errors.Join(err, run.End(job.Failed, func(r *job.Record) { r.Reason = err.Error() }))
		}
		return endJob(ctx, run, jobGrace, func() error { return k.run(ctx, a, m, jobs, run) })
	})
}

// endJob runs f and ends the run with what came of it, unless f did. When ctx ends and f
// does not return within grace, the record is ended without it, and the process with it.
func endJob(ctx context.Context, run *job.Run, grace time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("a fault of mem, please report it: %v at %s", p, firstFrame())
			}
		}()
		done <- f()
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			err = fmt.Errorf("the job did not end within %s after it was told to: %w", grace, context.Cause(ctx))
		}
	}
	state, reason := job.Done, ""
	switch {
	case errors.Is(context.Cause(ctx), job.ErrCancelled), err != nil && errors.Is(ctx.Err(), context.Canceled):
		state, reason = job.Cancelled, "cancelled"
	case err != nil:
		state, reason = job.Failed, err.Error()
	}
	var ended *job.EndedError
	if endErr := run.End(state, func(r *job.Record) { r.Reason = reason }); endErr != nil && !errors.As(endErr, &ended) {
		err = errors.Join(err, endErr)
	}
	return err
}

// bounded passes on so many bytes and then says that it stops.
type bounded struct {
	to   interface{ Write([]byte) (int, error) }
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left <= 0 {
		return len(p), nil
	}
	out := p
	if len(out) > b.left {
		out = append(append([]byte{}, out[:b.left]...), "\n… (cut)\n"...)
	}
	b.left -= len(p)
	if _, err := b.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (a *app) jobsCommand() *cobra.Command {
	var o job.ListOptions
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List the background work on this memory, newest first",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := term.Between(cmd, "limit", 0, math.MaxInt); err != nil {
				return err
			}
			if o.Kind != "" {
				if err := term.OneOf("kind", o.Kind, slices.Sorted(maps.Keys(jobKinds))); err != nil {
					return err
				}
			}
			return a.withJobs(func(jobs *job.Jobs) error {
				list, err := jobs.List(o)
				if err != nil {
					return err
				}
				if list == nil {
					list = []*job.Record{}
				}
				return a.show(map[string]any{"jobs": list}, func() { a.showJobs(list) })
			})
		},
	}
	c.Flags().StringVar(&o.Kind, "kind", "", "only jobs of this kind: "+strings.Join(slices.Sorted(maps.Keys(jobKinds)), ", "))
	c.Flags().BoolVar(&o.Open, "open", false, "only jobs that are not over")
	c.Flags().IntVar(&o.Limit, "limit", 20, "jobs to list; 0 lists all")
	c.AddCommand(
		&cobra.Command{
			Use: "show ID", Short: "Show one job: the id or the beginning of it", Args: term.OneArg("the id of a job"),
			RunE: func(_ *cobra.Command, args []string) error {
				return a.withJobs(func(jobs *job.Jobs) error {
					r, err := jobs.Get(args[0])
					if err != nil {
						return err
					}
					return a.show(r, func() { a.showJob(r) })
				})
			},
		},
		&cobra.Command{
			Use: "cancel ID", Short: "End a job, whoever runs it", Args: term.OneArg("the id of a job"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.withJobs(func(jobs *job.Jobs) error { return a.cancelJob(cmd.Context(), jobs, args[0]) })
			},
		},
	)
	return c
}

func (a *app) withJobs(f func(jobs *job.Jobs) error) error {
	return a.withMemory(func(m *memory.Memory) error { return f(job.Open(m.StateDirectory(), a.env)) })
}

// cancelWait is how long a person waits to see a job end: it is told within 200 ms and
// has a second to obey.
const cancelWait = 3 * time.Second

func (a *app) cancelJob(ctx context.Context, jobs *job.Jobs, ref string) error {
	before, err := jobs.Get(ref)
	if err != nil {
		return err
	}
	if before.State.Final() {
		return fmt.Errorf("job %s is over already: %s", before.ID, before.State)
	}
	r, err := jobs.Cancel(before.ID)
	for end := time.Now().Add(cancelWait); err == nil && !r.State.Final() && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		r, err = jobs.Get(before.ID)
	}
	if err != nil {
		return err
	}
	return a.show(r, func() {
		if r.State.Final() {
			a.Printf("%s %s\n", r.State, r.ID)
			return
		}
		a.Printf("told process %d to end job %s; it has not yet\n", r.Process, r.ID)
	})
}

func (a *app) showJobs(list []*job.Record) {
	if len(list) == 0 {
		fmt.Fprintln(a.Err, "no background work is recorded for this memory")
		return
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{r.ID, r.Kind, string(r.State), r.Created.Local().Format("2006-01-02 15:04:05"), took(r), r.Engine, term.Clean(firstLine(waits(r)))})
	}
	a.Table([]string{"job", "kind", "state", "created", "took", "engine", ""}, rows)
}

// waits is why a job is as it is; of one that waits for an agent, that.
func waits(r *job.Record) string {
	if r.Reason == "" && (r.State == job.Waiting || r.State == job.Queued && r.Process == 0 && len(r.Params) > 0) {
		return "waits for the agent of a conversation"
	}
	return r.Reason
}

// took is how long a job ran.
func took(r *job.Record) string {
	if r.Started.IsZero() || r.Ended.Before(r.Started) {
		return ""
	}
	return r.Ended.Sub(r.Started).Round(100 * time.Millisecond).String()
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

func (a *app) showJob(r *job.Record) {
	line := func(name, value string) {
		if value != "" {
			a.Printf("%s %s\n", a.Style(term.Faint, fmt.Sprintf("%-10s", name)), a.Data(value))
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Local().Format("2006-01-02 15:04:05")
	}
	line("job", r.ID)
	line("kind", r.Kind)
	line("state", string(r.State))
	line("reason", r.Reason)
	line("by", r.By)
	line("session", r.Session)
	line("engine", strings.TrimSpace(r.Engine+" "+r.Detail))
	line("why", r.Why)
	line("created", at(r.Created))
	line("started", at(r.Started))
	line("ended", at(r.Ended))
	line("took", took(r))
	if r.Process != 0 && !r.State.Final() {
		line("process", fmt.Sprint(r.Process))
	}
	line("phase", r.Phase)
	if r.Turns > 0 {
		line("turns", fmt.Sprintf("%d, with %d tool calls", r.Turns, r.Calls))
	}
	if n := r.Usage.Tokens(); n > 0 {
		line("tokens", fmt.Sprint(n))
	}
	for _, t := range r.Touched {
		line("touched", t)
	}
	for _, x := range r.Refused {
		line("refused", strings.TrimSuffix(x.What+": "+x.Reason, ": "))
	}
	line("change", r.Change)
	line("proposal", r.Proposal)
	for _, l := range r.Last {
		line("did", l)
	}
	if r.Report != "" {
		a.Printf("\n%s\n", a.Data(strings.TrimRight(r.Report, "\n")))
	}
}
