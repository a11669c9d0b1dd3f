package openai

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	sdk "github.com/sashabaranov/go-openai"

	"mem/core/model"
)

// noOutput stands for a result without text, which the API refuses.
const noOutput = "(no output)"

// failed begins a result that is none: the API has no mark for it.
const failed = "error: "

// emptySchema is the schema of a tool without one.
var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// params makes the body of a request. The same messages always give the same bytes.
func (p *provider) params(r model.Request) sdk.ChatCompletionRequest {
	q := sdk.ChatCompletionRequest{Model: p.wire.Options().Model}
	if !p.noStreamOptions.Load() {
		q.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	// The makers of the API renamed the limit; other servers know the old name at least.
	if p.renamed() != p.otherLimit.Load() {
		q.MaxCompletionTokens = r.MaxTokens
	} else {
		//lint:ignore SA1019 local servers know only this name
		q.MaxTokens = r.MaxTokens
	}
	for _, t := range r.Tools {
		s := t.Schema
		if !isObject(s) {
			s = emptySchema
		}
		q.Tools = append(q.Tools, sdk.Tool{Type: sdk.ToolTypeFunction,
			Function: &sdk.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: s}})
	}
	switch q.Model {
	case sdk.GPT6Sol, sdk.GPT6Luna: // which call tools over this API only when they do not reason
		if len(q.Tools) > 0 {
			q.ReasoningEffort = sdk.ReasoningEffortNone
		}
	}
	if strings.TrimSpace(r.System) != "" {
		q.Messages = append(q.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: r.System})
	}
	for _, m := range r.Messages {
		q.Messages = append(q.Messages, messages(m)...)
	}
	return q
}

// reasoning are models for which the SDK, as the API, refuses the old name of the limit.
var reasoning = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(o[134]|gpt-[5-9])`) })

func (p *provider) renamed() bool {
	return p.wire.Own() || reasoning().MatchString(p.wire.Options().Model)
}

// messages are the messages of the API for one of ours: each result is one of its own,
// before what else the user says.
func messages(m model.Message) []sdk.ChatCompletionMessage {
	var out []sdk.ChatCompletionMessage
	rest := sdk.ChatCompletionMessage{Role: string(m.Role)}
	var texts []string
	for _, b := range m.Blocks {
		switch {
		case b.Result != nil:
			text := b.Result.Text
			if strings.TrimSpace(text) == "" {
				text = noOutput
			}
			if b.Result.Refused {
				text = failed + text
			}
			out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleTool, ToolCallID: b.Result.ID, Content: text})
		case b.Call != nil:
			rest.ToolCalls = append(rest.ToolCalls, sdk.ToolCall{ID: b.Call.ID, Type: sdk.ToolTypeFunction,
				Function: sdk.FunctionCall{Name: b.Call.Name, Arguments: arguments(b.Call.Input)}})
		case strings.TrimSpace(b.Text) != "":
			texts = append(texts, b.Text)
		}
		// What is opaque is another provider's.
	}
	rest.Content = strings.Join(texts, "\n\n")
	if rest.Content != "" || len(rest.ToolCalls) > 0 {
		out = append(out, rest)
	}
	return out
}

// arguments are the input of a call as servers take it: several parse it, and fail on
// what is no object; that goes back inside one.
func arguments(in json.RawMessage) string {
	if isObject(in) {
		return string(in)
	}
	if len(bytes.TrimSpace(in)) == 0 {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"invalid": string(in)})
	if err != nil {
		return "{}"
	}
	return string(b)
}

func isObject(s json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(s), []byte("{")) && json.Valid(s)
}
