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
	if err := answer.DecodeFor(mcp.MethodElicitationCreate); err != nil || answer.Elicitation == nil {
		return ctx, true
	}
	content, _ := answer.Elicitation.Content.(map[string]any)
	if yes, _ := content["write"].(bool); yes && answer.Elicitation.Action == mcp.ElicitationResponseActionAccept {
		return memory.AllowSecrets(ctx), true
	}
	return ctx, true
}

// stateOf ties an answer to the arguments it was given for.
func stateOf(args json.RawMessage) string { return text.Hash(string(args)) }

// question asks a person whether a secret may be written, where the client can
// ask one. It gives nil where there is nothing to ask, or nobody.
func question(ctx context.Context, err error, asked bool, args json.RawMessage) *mcp.CallToolResult {
	var refused *store.RefusedError
	if asked || !errors.As(err, &refused) || !canAsk(ctx) {
		return nil
	}
	f := refused.Findings[0]
	return server.NewInputRequestBuilder(stateOf(args)).Elicit(consentID, mcp.ElicitationParams{
		Message: fmt.Sprintf("An agent wants to store what looks like a secret in memory, %s %s. Memory is plain text and is read by every later conversation.", refused.Path, f.Reason),
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"write": map[string]any{"type": "boolean", "title": "Store it all the same", "default": false},
			},
			"required": []string{"write"},
		},
	}).ToolResult()
}

// canAsk reports whether the client said that it can ask a person.
func canAsk(ctx context.Context) bool {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && s.GetClientCapabilities().Elicitation != nil
}
