package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
)

func (r *Request) decodeOpenAI() error {
	var body struct {
		Model               string `json:"model"`
		MaxTokens           int    `json:"max_tokens"`
		MaxCompletionTokens int    `json:"max_completion_tokens"`
		Stream              bool   `json:"stream"`
		StreamOptions       struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return err
	}
	switch {
	case body.Model == "":
		return errors.New("you must provide a model parameter")
	case len(body.Messages) == 0:
		return errors.New("messages: empty array")
	}
	r.Model, r.MaxTokens, r.Stream, r.AskedUsage = body.Model, body.MaxTokens+body.MaxCompletionTokens, body.Stream, body.StreamOptions.IncludeUsage
	for _, raw := range body.Tools {
		var t struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		if t.Type != "function" {
			return fmt.Errorf("tools: %q is no type of a tool", t.Type)
		}
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
		r.block(raw, false)
	}
	for i, raw := range body.Messages {
		r.block(raw, false)
		if err := r.openAIMessage(raw); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return r.checkPairs()
}

// openAIMessage reads a message. Results of tools, which are messages of their own, and
// what the user says after them become one message, as the other API has it.
func (r *Request) openAIMessage(raw json.RawMessage) error {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		CallID  string          `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	text := plainText(m.Content)
	var blocks []Block
	role := m.Role
	switch m.Role {
	case "system", "developer":
		r.System += text
		return nil
	case "tool":
		if len(m.Content) == 0 || m.CallID == "" {
			return errors.New("a message of a tool needs content and tool_call_id")
		}
		role = "user"
		blocks = []Block{{Type: "tool_result", ID: m.CallID, Text: text, Raw: raw}}
	case "user", "assistant":
		if text != "" {
			blocks = append(blocks, Block{Type: "text", Text: text, Raw: raw})
		}
		for _, c := range m.Calls {
			input := json.RawMessage(c.Function.Arguments)
			if !json.Valid(input) {
				return fmt.Errorf("tool_calls: the arguments of %s are no JSON", c.Function.Name)
			}
			blocks = append(blocks, Block{Type: "tool_use", ID: c.ID, Name: c.Function.Name, Input: input, Raw: raw})
		}
		if len(blocks) == 0 {
			return errors.New("content is missing")
		}
	default:
		return fmt.Errorf("%q is no role", m.Role)
	}
	if n := len(r.Messages); n > 0 && role == "user" && r.Messages[n-1].Role == "user" {
		r.Messages[n-1].Blocks = append(r.Messages[n-1].Blocks, blocks...)
		return nil
	}
	r.Messages = append(r.Messages, Message{Role: role, Blocks: blocks})
	return nil
}
