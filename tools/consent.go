package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memory"
	"mem/core/store"
	"mem/core/text"
)

// consentID names the question whether a text with a secret may be written.
const consentID = "write-secret"

// consent looks whether the client brings a person's answer to the question
// that this very call raised before. asked tells that there was one.
func consent(ctx context.Context, req mcp.CallToolRequest, args json.RawMessage) (_ context.Context, asked bool) {
	answer, ok := req.Params.InputResponses[consentID]
	if !ok || req.Params.RequestState != stateOf(args) {
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

// stateOf ties an answer to the arguments it was given for.
func stateOf(args json.RawMessage) string { return text.Hash(string(args)) }

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
