package fork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/model"
)

// Bounds of the loop itself. None of them is a limit that a task sets: they end what
// would never end, or hold what would grow.
const (
	// grace is how long a model or a tool has to return once a run is over. Run promises
	// a second in all.
	grace = 300 * time.Millisecond
	// replyTokens is the longest answer that is asked for where no limit is nearer; it is
	// what the providers ask for by themselves.
	replyTokens = 16_000
	// idleReplies is after how many replies in a row that do nothing (empty, cut off) the
	// run has failed.
	idleReplies = 3
	// sameCalls is after how many replies in a row with the very same calls and results the
	// run has failed; one before it, the model is told.
	sameCalls = 4
	// badReplies is after how many replies in a row of which no call worked the run has
	// failed.
	badReplies = 10
)

// NewLoop gives the engine that runs tasks on a model: it asks, makes the calls that the
// model wants, hands back what they gave, and goes on until the model is through or a
// limit is reached. name is the constant that says whose model it is: Provider or
// Sampling.
func NewLoop(m model.Model, name string) Engine { return &loop{model: m, name: name} }

type loop struct {
	model model.Model
	name  string
}

func (l *loop) Name() string   { return l.name }
func (l *loop) Detail() string { return l.model.Name() }

// run is one run of a task. It belongs to one goroutine.
type run struct {
	task  Task
	model model.Model
	out   Outcome

	messages []model.Message
	tools    []model.Tool
	scan     *guard.Scanner
	touched  map[string]bool
	ids      map[string]bool // of calls, so that each is there once

	idle, bad, same int
	last            string // calls and results of the reply before, hashed
}

// Run implements Engine.
func (l *loop) Run(ctx context.Context, t Task) (*Outcome, error) {
	switch {
	case t.Tools == nil:
		return nil, errors.New("the task has no tools: without them nothing could be looked at or changed")
	case strings.TrimSpace(t.Prompt) == "":
		return nil, errors.New("the task has no prompt")
	}
	scan, err := guard.New(guard.Options{})
	if err != nil {
		return nil, err
	}
	r := &run{task: t, model: l.model, scan: scan, tools: t.Tools.Tools(), touched: map[string]bool{}, ids: map[string]bool{}}
	r.out.Model = l.model.Name()
	r.messages = append(make([]model.Message, 0, len(t.Shared)+16), t.Shared...)
	r.note(append([]string{t.Prompt}, r.nearTheEnd()...)...)
	if t.Limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Limits.Wall, errWall)
		defer cancel()
	}
	r.loop(ctx)
	r.out.Touched = sorted(r.touched)
	r.out.Text = r.lastWords(r.out.Text)
	return &r.out, nil
}

// errWall tells the run's own limit from a deadline of whoever started it.
var errWall = errors.New("time limit of the run")

func (r *run) loop(ctx context.Context) {
	if r.stopped(ctx) || r.tooMuchAtOnce() {
		return
	}
	for r.out.End == "" {
		r.turn(ctx)
	}
	if r.task.Limits.Cost > 0 && !r.out.Usage.Priced && r.out.Usage.Requests > 0 {
		r.out.Reason += fmt.Sprintf("; what it cost is not known, so that the limit of $%.2f could not be kept (engines.provider.price_input and price_output set the prices)", r.task.Limits.Cost)
	}
}

// turn is one reply of the model and the calls in it.
func (r *run) turn(ctx context.Context) {
	reply, err := r.ask(ctx)
	if reply != nil {
		r.out.Usage = r.out.Usage.Add(reply.Usage)
		if reply.Model != "" {
			r.out.Model = reply.Model
		}
	}
	switch {
	case r.stopped(ctx):
		return
	case err != nil:
		r.end(EndFailed, err.Error())
		return
	case reply == nil:
		r.end(EndFailed, "the model gave neither a reply nor an error: a fault of mem")
		return
	}
	r.out.Turns++
	said, calls := r.take(reply)
	if said != "" {
		r.out.Text = said
	}
	made := r.make(ctx, reply.Stop, calls)
	r.report(said, calls)
	switch {
	case r.out.End != "": // a limit inside of the calls
		return
	case r.stopped(ctx):
		return
	case reply.Stop == model.StopRefused:
		r.end(EndFailed, "the model declined to go on"+sayingWhat(said))
		return
	}
	if r.through(reply, said, calls) {
		return
	}
	notes := r.judge(reply, said, calls, made)
	if r.out.End != "" || r.limited() {
		return
	}
	r.answer(made, append(notes, r.nearTheEnd()...))
}

// through reports whether the model has nothing to add, and ends the run then.
func (r *run) through(reply *model.Reply, said string, calls []*call) bool {
	if len(calls) > 0 || reply.Stop == model.StopLength {
		return false
	}
	// Models often end with an empty reply once their last calls have worked.
	if said == "" && r.out.ToolCalls == 0 {
		return false
	}
	r.end(EndDone, "the agent was through")
	return true
}

// judge looks for a model that gets nowhere: it is told first, then the run fails.
func (r *run) judge(reply *model.Reply, said string, calls []*call, made []model.Block) []string {
	var notes []string
	switch cut := reply.Stop == model.StopLength; {
	case len(calls) == 0 || cut && !anyRan(calls):
		r.idle++
		what := "gave an empty reply"
		note := "Your last reply was empty. Go on with the task, or say in one line what you did."
		if cut {
			what, note = "was cut off at the length of its reply", "Your last reply was cut off at its length limit. Go on in smaller steps: shorter texts, fewer calls in one reply."
		}
		if r.idle >= idleReplies {
			r.end(EndFailed, fmt.Sprintf("the model %s, %d times in a row; another model, or one with a larger context, may do better", what, r.idle))
			return nil
		}
		notes = append(notes, note)
	default:
		r.idle = 0
	}
	if len(calls) == 0 {
		return notes
	}
	if r.bad++; anyWorked(calls) {
		r.bad = 0
	}
	if r.bad >= badReplies {
		r.end(EndFailed, fmt.Sprintf("none of the model's calls worked, %d replies in a row; the last: %s", r.bad, memdir.Shown(firstText(made), 200)))
		return nil
	}
	if is := fingerprint(calls, made); is != r.last {
		r.last, r.same = is, 1
	} else if r.same++; r.same >= sameCalls {
		r.end(EndFailed, fmt.Sprintf("the model made the very same calls %d times in a row: %s", r.same, calls[0].line))
		return nil
	} else if r.same == sameCalls-1 {
		notes = append(notes, "You have made these very calls before, and what they gave is the same. Do something else, or end with one line on what you did.")
	}
	return notes
}

// end notes how the run ended; the first word holds.
func (r *run) end(e End, reason string) {
	if r.out.End == "" {
		r.out.End, r.out.Reason = e, reason
	}
}

// note adds text to what the user says.
func (r *run) note(texts ...string) {
	m := model.Message{Role: model.User}
	for _, t := range texts {
		m.Blocks = append(m.Blocks, model.Block{Text: t})
	}
	r.messages = append(r.messages, m)
}

// answer hands the results of a reply's calls back, and what the model is to know besides.
func (r *run) answer(results []model.Block, notes []string) {
	m := model.Message{Role: model.User, Blocks: results}
	for _, n := range notes {
		m.Blocks = append(m.Blocks, model.Block{Text: n})
	}
	r.messages = append(r.messages, m)
}

// request is the next one.
func (r *run) request() model.Request {
	return model.Request{System: r.task.System, Tools: r.tools, Messages: r.messages[:len(r.messages):len(r.messages)], Shared: len(r.task.Shared)}
}

// ask sends the next request. A model that does not return once the run is over is left
// behind, and what it was sent is counted by its size.
func (r *run) ask(ctx context.Context) (*model.Reply, error) {
	req := r.request()
	if l := r.task.Limits.OutputTokens; l > 0 {
		if left := l - r.out.Usage.Output; left < replyTokens {
			req.MaxTokens = int(left)
		}
	}
	reply, err := within(ctx, func() (*model.Reply, error) { return r.model.Reply(ctx, req) })
	if errors.Is(err, errLeftBehind) {
		reply = &model.Reply{Usage: model.Estimate(req, nil)}
	}
	return reply, err
}

var (
	errLeftBehind = errors.New("it did not return when the run was over")
	errPanicked   = errors.New("it panicked")
)

// within runs f, and leaves it behind where it does not return soon after ctx has ended.
// A panic in f, which is code of a provider, is an error.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var res result
		defer func() {
			if p := recover(); p != nil {
				res.err = fmt.Errorf("%w: %v", errPanicked, p)
			}
			done <- res
		}()
		res.v, res.err = f()
	}()
	select {
	case res := <-done:
		return res.v, res.err
	case <-ctx.Done():
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case res := <-done:
		return res.v, res.err
	case <-t.C:
		var none T
		return none, errLeftBehind
	}
}

func sayingWhat(said string) string {
	if said == "" {
		return ""
	}
	return ": " + memdir.Shown(said, maxSaidLine)
}
