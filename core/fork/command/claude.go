package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mem/core/fork"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/model"
	"mem/core/settings"
)

// claude runs `claude -p`.
type claude struct {
	path  string
	model string
	probe probe
	env   settings.Env
}

// permissionMode lets edits in the working directory pass unasked, and nothing else.
const permissionMode = "acceptEdits"

// maxSystem is the longest system prompt that is given as an argument, in bytes: Windows
// takes a command line of 32 KB in all.
const maxSystem = 12 << 10

func (c *claude) Name() string { return fork.Command }

func (c *claude) Detail() string {
	s := fmt.Sprintf("%s (%s)", c.path, c.probe.Version)
	if c.model != "" {
		s += " with " + c.model
	}
	return s
}

// arguments give the flags that confine it. docs/engines.md says what each is for.
func (c *claude) arguments(t fork.Task) []string {
	args := []string{
		"--print", "--output-format", "stream-json", "--verbose",
		"--restricted", "--tools", strings.Join([]string{"Read", "Grep", "Glob", "Edit", "Write"}, ","),
		"--permission-mode", permissionMode, "--permission-prompts", "none",
		"--strict-mcp-config", "--setting-sources", "",
		"--settings", `{"disableAllHooks":true,"autoMemoryEnabled":false,"includeCoAuthoredBy":false}`,
		"--no-session-persistence", "--disable-slash-commands",
	}
	args = append(args, c.probe.Welcome...)
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	if t.Limits.Turns > 0 {
		// Known to 2.1.332, though its help does not name it. We count as well.
		args = append(args, "--max-turns", strconv.Itoa(t.Limits.Turns))
	}
	if t.Limits.Cost > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(t.Limits.Cost, 'f', -1, 64))
	}
	system, _ := splitSystem(t.System)
	return append(args, "--system-prompt", system)
}

// Run implements fork.Engine.
func (c *claude) Run(ctx context.Context, t fork.Task) (*fork.Outcome, error) {
	if err := checkStage(t.Stage); err != nil {
		return nil, err
	}
	if strings.TrimSpace(t.Prompt) == "" {
		return nil, errors.New("the task has no prompt")
	}
	scan, err := guard.New(guard.Options{})
	if err != nil {
		return nil, err
	}
	if t.Limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Limits.Wall, errWall)
		defer cancel()
	}
	out := &fork.Outcome{Model: c.model}
	hush := func(s string) string { return hushed(c.env, s) }
	w := newWatch(t, scan, hush, out)
	input := stdin(t)
	if most := t.Limits.Tokens; most > 0 && int64(len(input))/model.BytesPerToken >= most {
		w.end(fork.EndBudget, fmt.Sprintf("the first request alone would be about %d tokens, and %d are left of the budget; nothing was sent (budgets.job.tokens and budgets.day.tokens set it)", len(input)/model.BytesPerToken, most))
		return out, nil
	}
	var dropped []string
	p := process{path: c.path, args: c.arguments(t), dir: t.Stage, env: reduced(c.env, func(name, source string) {
		dropped = append(dropped, fmt.Sprintf("%s of %s was not passed on", name, source))
	})}
	said, err := p.run(ctx, input, w.line)
	w.over(ctx, said, err)
	if len(dropped) > 0 {
		out.Reason += "; " + strings.Join(dropped, ", ")
	}
	out.Touched = sorted(w.touched)
	if len(out.Text) > maxReport {
		out.Text = strings.ToValidUTF8(out.Text[:maxReport], "") + fmt.Sprintf("\n[%d more bytes are left out]", len(out.Text)-maxReport)
	}
	out.Text = w.clean(out.Text)
	return out, nil
}

var errWall = errors.New("time limit of the run")

// over says how a run ended, from the last line of its output, from how the process ended,
// and from who ended it.
func (w *watch) over(ctx context.Context, said string, err error) {
	if w.result == nil {
		w.tell()
	}
	var cause error
	if ctx.Err() != nil {
		cause = context.Cause(ctx)
	}
	if w.out.Turns == 0 && w.out.Usage.Requests == 0 && cause != nil && w.begun {
		// It was thinking: what it was sent was used.
		w.out.Usage.Requests, w.out.Usage.Estimated = 1, true
		w.out.Usage.Input = int64(len(stdin(w.task))) / model.BytesPerToken
	}
	switch {
	case w.out.End != "": // a limit of ours
		return
	case w.result != nil && !w.result.IsError && w.result.Subtype == "success":
		if w.result.Result != "" {
			w.out.Text = w.result.Result
		}
		w.end(fork.EndDone, "the agent was through")
		return
	case errors.Is(cause, errWall):
		why := fmt.Sprintf("it ran for %s, its limit", w.task.Limits.Wall)
		if w.trouble != "" {
			why += "; " + w.trouble
		}
		w.end(fork.EndWall, why)
		return
	case errors.Is(cause, context.DeadlineExceeded):
		w.end(fork.EndWall, "the time of the job was over")
		return
	case cause != nil:
		w.end(fork.EndCancelled, "somebody cancelled it")
		return
	}
	why := said
	if w.result != nil {
		switch w.result.Subtype {
		case "error_max_turns":
			w.end(fork.EndTurns, fmt.Sprintf("after %d replies, its limit, the agent was not through", w.out.Turns))
			return
		case "error_max_budget_usd":
			w.end(fork.EndBudget, fmt.Sprintf("it cost $%.4f, and the budget is $%.4f (budgets.job.cost and budgets.day.cost set it)", w.out.Usage.Cost, w.task.Limits.Cost))
			return
		}
		why = strings.Join(append(w.result.Errors, w.result.Result), " ")
	}
	if why = w.short(why, 500); why == "" {
		why = "it said nothing"
	}
	switch {
	case err != nil:
		why = fmt.Sprintf("the command ended with %s: %s", w.short(err.Error(), 200), why)
	case w.result == nil:
		why = "the command ended without a result: " + why
	default:
		why = "the command failed: " + why
	}
	w.end(fork.EndFailed, why+"; `claude -p hello` in a terminal shows whether it is logged in")
}

// checkStage holds that the command works where it is meant to.
func checkStage(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("the task has no stage that a command could work in: %q", dir)
	}
	st, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("the stage of the task: %w", err)
	}
	if !st.IsDir() {
		return fmt.Errorf("the stage %s is no directory", memdir.ShownName(dir))
	}
	return nil
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
