package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mem/core/fork"
	"mem/core/settings"
	"mem/core/spend"
)

// counted is an engine whose runs are in the ledger and within the budgets.
type counted struct {
	fork.Engine
	ledger  *spend.Ledger
	budgets settings.BudgetsConfig
}

// Run implements fork.Engine. Where nothing is left of the day, nothing runs: the outcome
// says so, and when it starts anew. Runs that go on at the same time each have what was
// left when they began.
func (c *counted) Run(ctx context.Context, t fork.Task) (*fork.Outcome, error) {
	left, err := c.ledger.Left(c.budgets)
	if err != nil {
		return nil, fmt.Errorf("what was spent today cannot be read, so nothing is spent: %w", err)
	}
	if left.Spent != "" {
		return &fork.Outcome{End: fork.EndBudget, Reason: left.Spent}, nil
	}
	t.Limits = within(t.Limits, c.budgets, left)
	out, err := c.Engine.Run(ctx, t)
	if err != nil || out == nil {
		return out, err
	}
	if left.Unpriced > 0 && t.Limits.Cost > 0 {
		left.Notes = append(left.Notes, fmt.Sprintf("what %d calls of today cost is not known, so that the budget of the day counts without them", left.Unpriced))
	}
	out.Reason = strings.Join(append([]string{out.Reason}, left.Notes...), "; ")
	if out.Usage.Requests == 0 {
		return out, nil
	}
	if err := c.ledger.Add(spend.Entry{Memory: t.Memory, Job: t.Job, Kind: t.Kind, Engine: c.Name(), Model: out.Model, Usage: out.Usage}); err != nil {
		out.Reason += fmt.Sprintf("; what it used is not in the ledger, so that later budgets do not count it: %v", err)
	}
	return out, nil
}

// within narrows the limits of a task to the budgets of its job and what is left of the
// day.
func within(l fork.Limits, b settings.BudgetsConfig, left spend.Left) fork.Limits {
	job := b.Job
	l.Wall = least(l.Wall, b.JobTime)
	l.Tokens = least(l.Tokens, job.Tokens, unless(left.Tokens))
	l.Turns = least(l.Turns, job.Runs, unless(left.Runs))
	l.Cost = least(l.Cost, job.Cost, unless(left.Cost))
	return l
}

// unless turns "no limit" of the ledger into that of a limit.
func unless[N int | int64 | float64](n N) N {
	if n < 0 {
		return 0
	}
	return n
}

// least is the smallest of some limits, of which 0 is none.
func least[N int | int64 | float64 | time.Duration](limits ...N) N {
	var out N
	for _, l := range limits {
		if l > 0 && (out == 0 || l < out) {
			out = l
		}
	}
	return out
}
