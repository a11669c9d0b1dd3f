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
	at    time.Time
}

func newQuestions() *questions { return &questions{now: time.Now} }

// ask notes a question and gives the state that its answer has to bring.
func (q *questions) ask(about string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget()
	a := asked{nonce: rand.Text(), about: about, at: q.now()}
	q.open = append(q.open, a)
	return a.nonce
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
	answer, ok := req.Params.InputResponses[consentID]
	if !ok || !canAsk(ctx) || !q.answered(req.Params.RequestState, about) {
		return ctx, false
	}
	if err := answer.DecodeFor(mcp.MethodElicitationCreate); err == nil && allows(answer.Elicitation) {
		return memory.AllowSecrets(ctx), true
	}
	return ctx, true
}

// allows tells whether a person said yes.
func allows(answer *mcp.ElicitationResult) bool {
	if answer == nil || answer.Action != mcp.ElicitationResponseActionAccept {
		return false
	}
	content, _ := answer.Content.(map[string]any)
	yes, _ := content["write"].(bool)
	return yes
}

// callOf names a call, so that an answer holds for the tool, the store and the
// arguments it was given for and no others.
func callOf(tool, store string, args json.RawMessage) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + store + "\x00" + string(args)))
	return string(sum[:])
}

// question gives what to ask a person about a write that was refused for a
// secret, nil where it was not.
func question(err error) *mcp.ElicitationParams {
	var refused *store.RefusedError
	if !errors.As(err, &refused) {
		return nil
	}
	return &mcp.ElicitationParams{
		Message: fmt.Sprintf("An agent wants to store what looks like a secret in memory, which is plain text that every later conversation reads. %s, %s", refused.Path, refused.Findings[0].Reason),
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"write": map[string]any{"type": "boolean", "title": "Store it all the same", "default": false},
			},
			"required": []string{"write"},
		},
	}
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
