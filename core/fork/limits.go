package fork

import (
	"context"
	"errors"
	"fmt"

	"mem/core/model"
)

// limited ends the run where a limit is reached after a whole turn.
func (r *run) limited() bool {
	l, u := r.task.Limits, r.out.Usage
	switch {
	case l.Tokens > 0 && u.Tokens() >= l.Tokens:
		r.end(EndBudget, fmt.Sprintf("%d tokens were used, and the budget is %d (budgets.job.tokens and budgets.day.tokens set it)", u.Tokens(), l.Tokens))
	case l.Cost > 0 && u.Cost >= l.Cost:
		r.end(EndBudget, fmt.Sprintf("it cost $%.4f, and the budget is $%.4f (budgets.job.cost and budgets.day.cost set it)", u.Cost, l.Cost))
	case l.OutputTokens > 0 && u.Output >= l.OutputTokens:
		r.end(EndOutput, fmt.Sprintf("the model wrote %d tokens, and its limit is %d", u.Output, l.OutputTokens))
	case l.Turns > 0 && r.out.Turns >= l.Turns:
		r.end(EndTurns, fmt.Sprintf("after %d replies, its limit, the agent was not through", r.out.Turns))
	case l.ToolCalls > 0 && r.out.ToolCalls >= l.ToolCalls:
		r.end(EndCalls, fmt.Sprintf("after %d tool calls, its limit, the agent was not through", r.out.ToolCalls))
	case l.ReadBytes > 0 && r.out.Read >= l.ReadBytes:
		r.end(EndRead, fmt.Sprintf("its tools gave %d bytes, and its limit is %d", r.out.Read, l.ReadBytes))
	default:
		return false
	}
	return true
}

// tooMuchAtOnce ends the run before its first request where that alone would break the
// budget: a limit that is only looked at afterwards is none for a long conversation.
func (r *run) tooMuchAtOnce() bool {
	most := r.task.Limits.Tokens
	if most <= 0 {
		return false
	}
	about := r.request().Bytes() / model.BytesPerToken
	if about < most {
		return false
	}
	r.end(EndBudget, fmt.Sprintf("the first request alone would be about %d tokens, and %d are left of the budget; nothing was sent (budgets.job.tokens and budgets.day.tokens set it)", about, most))
	return true
}

// nearTheEnd tells the model that it has to come to an end.
func (r *run) nearTheEnd() []string {
	if r.task.Limits.Turns <= 0 {
		return nil
	}
	switch r.task.Limits.Turns - r.out.Turns {
	case 2:
		return []string{"Two replies are left. Make the changes that are still to be made now."}
	case 1:
		return []string{"One reply is left, the next one. Calls in it are still made, but you will not see what they give: make the last changes, and say in a few lines what you did."}
	}
	return nil
}

// stopped ends the run where its time is over or somebody cancelled it.
func (r *run) stopped(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	switch {
	case errors.Is(context.Cause(ctx), errWall):
		r.end(EndWall, fmt.Sprintf("it ran for %s, its limit", r.task.Limits.Wall))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.end(EndWall, "the time of the job was over")
	default:
		r.end(EndCancelled, "somebody cancelled it")
	}
	return true
}
