package tools

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memory"
	"mem/core/store"
)

// consentID names the question whether a text with a secret may be written.
const consentID = "write-secret"

// permission is something that only a person can allow: what it is asked as, the field
// of the answer that says yes and its label, and what the call may then do. what is what the
// person was shown, where that may have changed since.
type permission struct {
	id, field, label string
	grant            func(ctx context.Context, what string) context.Context
}

// permissions are all that a person is asked for.
var permissions = []permission{
	{consentID, "write", "Store it all the same", func(ctx context.Context, _ string) context.Context { return memory.AllowSecrets(ctx) }},
	{applyID, "apply", "Apply it", func(ctx context.Context, _ string) context.Context { return allowApply(ctx) }},
	{publishID, "publish", "Publish it", allowPublish},
}

const (
	maxQuestions = 100              // asked and not answered yet; the oldest go
	answerWithin = 30 * time.Minute // a person may be at lunch
)

// questions remembers what this process asked, so that an answer counts only if
// there was a question: whoever makes the calls could make up an answer as well.
type questions struct {
	now func() time.Time

	mu   sync.Mutex
	open []asked // oldest first
}

// asked is a question under way.
type asked struct {
	nonce string // nobody can guess it, and it is good for one answer
	about string // hash of the call it is about
	what  string // what the person was shown
	at    time.Time
}

func newQuestions() *questions { return &questions{now: time.Now} }

// ask notes a question and gives the state that its answer has to bring.
func (q *questions) ask(about string) string { return q.askAbout(about, "") }

// askAbout notes what the person is shown as well.
func (q *questions) askAbout(about, what string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget()
	a := asked{nonce: rand.Text(), about: about, what: what, at: q.now()}
	q.open = append(q.open, a)
	return a.nonce
}

// shown gives what the person was shown with a question.
func (q *questions) shown(state string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, a := range q.open {
		if a.nonce == state {
			return a.what
		}
	}
	return ""
}

// answered reports whether state is that of a question about this call. It is
// used up by that, also where it was about another call.
func (q *questions) answered(state, about string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget()
	i := slices.IndexFunc(q.open, func(a asked) bool { return a.nonce == state })
	if i < 0 {
		return false
	}
	was := q.open[i].about
	q.open = slices.Delete(q.open, i, i+1)
	return was == about
}

func (q *questions) forget() {
	from := max(0, len(q.open)+1-maxQuestions)
	for from < len(q.open) && q.now().Sub(q.open[from].at) > answerWithin {
		from++
	}
	q.open = slices.Delete(q.open, 0, from)
}

// consent looks whether the client brings a person's answer to the question
// that this very call raised before. asked tells that there was one.
func (q *questions) consent(ctx context.Context, req mcp.CallToolRequest, about string) (_ context.Context, asked bool) {
	for _, p := range permissions {
		answer, ok := req.Params.InputResponses[p.id]
		if !ok || !canAsk(ctx) {
			continue
		}
		// A question is about the call and about what is asked: a yes to one is none to another.
		what := q.shown(req.Params.RequestState)
		if !q.answered(req.Params.RequestState, p.id+about) {
			return ctx, false
		}
		if err := answer.DecodeFor(mcp.MethodElicitationCreate); err == nil && p.allowed(answer.Elicitation) {
			return p.grant(ctx, what), true
		}
		return ctx, true
	}
	return ctx, false
}

// allowed tells whether a person said yes.
func (p permission) allowed(answer *mcp.ElicitationResult) bool {
	if answer == nil || answer.Action != mcp.ElicitationResponseActionAccept {
		return false
	}
	content, _ := answer.Content.(map[string]any)
	yes, _ := content[p.field].(bool)
	return yes
}

// callOf names a call, so that an answer holds for the tool, the store and the
// arguments it was given for and no others.
func callOf(tool, store string, args json.RawMessage) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + store + "\x00" + string(args)))
	return string(sum[:])
}

// personError says that a person has to decide: which permission it takes, what they are
// asked and shown, and what the caller learns where nobody said yes.
type personError struct {
	permission     string // its id
	question, what string
	refusal        string
}

func (e *personError) Error() string { return e.refusal }

// question gives what to ask a person about a call that was refused for want of one:
// a write with a secret, a proposal that waits, what leaves for a team. It is nil where
// that is not why.
func question(err error) (_ *mcp.ElicitationParams, _ permission, what string) {
	var refused *store.RefusedError
	var person *personError
	var p permission
	message := ""
	switch {
	case errors.As(err, &person):
		p = permissions[slices.IndexFunc(permissions, func(p permission) bool { return p.id == person.permission })]
		message, what = person.question, person.what
	case errors.As(err, &refused):
		p = permissions[0]
		message = fmt.Sprintf("An agent wants to store what looks like a secret in memory, which is plain text that every later conversation reads. %s, %s", refused.Path, refused.Findings[0].Reason)
	default:
		return nil, permission{}, ""
	}
	return &mcp.ElicitationParams{
		Message: message,
		RequestedSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{p.field: map[string]any{"type": "boolean", "title": p.label, "default": false}},
			"required":   []string{p.field},
		},
	}, p, what
}

// canAsk reports whether the client said that it can show a person a form. An
// empty declaration means forms, the only mode before 2025-11-25.
func canAsk(ctx context.Context) bool {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok {
		return false
	}
	can := s.GetClientCapabilities().Elicitation
	return can != nil && (can.Form != nil || can.URL == nil)
}

// ask asks in the middle of a call, as the era of handshakes has it. Where no
// answer comes, nobody said yes, and the caller learns why it was refused.
func ask(ctx context.Context, q mcp.ElicitationParams) *mcp.ElicitationResult {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithElicitation)
	if !ok {
		return nil
	}
	answer, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: q})
	if err != nil {
		return nil
	}
	return answer
}
