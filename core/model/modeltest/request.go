package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Request is one request for an answer. Both APIs come in one form, so that a test can
// look at either: results of tools are blocks of a message of the user.
type Request struct {
	N      int    // 1 is the first that the server got
	API    string // Anthropic or OpenAI
	Path   string
	Header http.Header
	Key    string // that it carried, without "Bearer"
	Raw    []byte
	Time   time.Time

	Model     string
	MaxTokens int
	Stream    bool
	// AskedUsage says that an OpenAI stream was asked for its usage.
	AskedUsage bool
	System     string
	Tools      []Tool
	Messages   []Message

	usage  Usage
	blocks []string // as a cache sees them, in the order of the prefix
	marks  []int    // ends of cached prefixes, in blocks
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
	Cached            bool // a cache mark stands on it
}

// Message is one message.
type Message struct {
	Role   string // user or assistant
	Blocks []Block
}

// Block is one part of a message.
type Block struct {
	Type   string // text, tool_use, tool_result, thinking, …
	Text   string // also of a result
	ID     string // of the call
	Name   string
	Input  json.RawMessage
	Failed bool
	Cached bool            // a cache mark stands on it
	Raw    json.RawMessage // as it was sent
}

// Turn is how many answers of the model the request holds, and one.
func (r Request) Turn() int {
	n := 1
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// Prompt is the text of the last message that has any.
func (r Request) Prompt() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if t := r.Messages[i].Text(); t != "" {
			return t
		}
	}
	return ""
}

// Text is all text of a message, one block a line.
func (m Message) Text() string {
	var texts []string
	for _, b := range m.Blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Results are the results of tools in the last message.
func (r Request) Results() []Block {
	var out []Block
	if n := len(r.Messages); n > 0 {
		for _, b := range r.Messages[n-1].Blocks {
			if b.Type == "tool_result" {
				out = append(out, b)
			}
		}
	}
	return out
}

// Has reports whether the model may call a tool.
func (r Request) Has(tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// Marks says where cache marks stand, in order: "system", "tools[3]", "messages[2]".
func (r Request) Marks() []string {
	var out []string
	for i, t := range r.Tools {
		if t.Cached {
			out = append(out, fmt.Sprintf("tools[%d]", i))
		}
	}
	if r.systemCached() {
		out = append(out, "system")
	}
	for i, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Cached {
				out = append(out, fmt.Sprintf("messages[%d]", i))
			}
		}
	}
	return out
}

func (r Request) systemCached() bool {
	var body struct {
		System json.RawMessage `json:"system"`
	}
	return r.API == Anthropic && json.Unmarshal(r.Raw, &body) == nil && bytes.Contains(body.System, []byte(`"cache_control"`))
}

// Contains reports whether a text left the process anywhere in the request, headers
// included.
func (r Request) Contains(text string) bool {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always marshal
	}
	if bytes.Contains(r.Raw, []byte(text)) || bytes.Contains(r.Raw, bytes.Trim(quoted, `"`)) {
		return true
	}
	for _, values := range r.Header {
		for _, v := range values {
			if strings.Contains(v, text) {
				return true
			}
		}
	}
	return false
}

func (r *Request) decode() error {
	r.Key = r.Header.Get("X-Api-Key")
	if r.Key == "" {
		r.Key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if r.API == OpenAI {
		return r.decodeOpenAI()
	}
	return r.decodeAnthropic()
}

func (r *Request) decodeAnthropic() error {
	var body struct {
		Model     string            `json:"model"`
		MaxTokens int               `json:"max_tokens"`
		Stream    bool              `json:"stream"`
		System    json.RawMessage   `json:"system"`
		Tools     []json.RawMessage `json:"tools"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return err
	}
	switch {
	case body.Model == "":
		return errors.New("model: field required")
	case body.MaxTokens <= 0:
		return errors.New("max_tokens: field required")
	case len(body.Messages) == 0:
		return errors.New("messages: at least one message is required")
	}
	r.Model, r.MaxTokens, r.Stream = body.Model, body.MaxTokens, body.Stream
	for _, raw := range body.Tools {
		var t struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Cache       json.RawMessage `json:"cache_control"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, Cached: len(t.Cache) > 0})
		r.block(raw, len(t.Cache) > 0)
	}
	system, err := r.anthropicBlocks(body.System)
	if err != nil {
		return fmt.Errorf("system: %w", err)
	}
	for _, b := range system {
		r.System += b.Text
	}
	for i, m := range body.Messages {
		blocks, err := r.anthropicBlocks(m.Content)
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if len(blocks) == 0 {
			return fmt.Errorf("messages.%d: all messages must have non-empty content", i)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Blocks: blocks})
	}
	if n := len(r.marks); n > 4 {
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided; found %d", n)
	}
	return r.checkPairs()
}

// block notes a part of the prefix, as a cache sees it.
func (r *Request) block(raw json.RawMessage, marked bool) {
	var fields map[string]json.RawMessage
	text := string(raw)
	if marked && json.Unmarshal(raw, &fields) == nil {
		delete(fields, "cache_control")
		if b, err := json.Marshal(fields); err == nil {
			text = string(b)
		}
	} else if json.Unmarshal(raw, &fields) == nil {
		if b, err := json.Marshal(fields); err == nil {
			text = string(b)
		}
	}
	r.blocks = append(r.blocks, text)
	if marked {
		r.marks = append(r.marks, len(r.blocks))
	}
}

// anthropicBlocks reads content, which is a string or a list of blocks.
func (r *Request) anthropicBlocks(content json.RawMessage) ([]Block, error) {
	if len(content) == 0 {
		return nil, nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		r.block(content, false)
		return []Block{{Type: "text", Text: text, Raw: content}}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, err
	}
	var out []Block
	for _, raw := range list {
		var b struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Input     json.RawMessage `json:"input"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
			Failed    bool            `json:"is_error"`
			Cache     json.RawMessage `json:"cache_control"`
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, err
		}
		block := Block{Type: b.Type, Text: b.Text, ID: b.ID, Name: b.Name, Input: b.Input, Failed: b.Failed, Cached: len(b.Cache) > 0, Raw: raw}
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				return nil, errors.New("text content blocks must contain non-whitespace text")
			}
		case "tool_use":
			if !bytes.HasPrefix(bytes.TrimSpace(b.Input), []byte("{")) {
				return nil, errors.New("tool_use.input: Input should be a valid dictionary")
			}
		case "tool_result":
			block.ID, block.Text = b.ToolUseID, plainText(b.Content)
		case "thinking", "redacted_thinking":
			if block.Cached {
				return nil, errors.New("thinking.cache_control: extra inputs are not permitted")
			}
		}
		r.block(raw, block.Cached)
		out = append(out, block)
	}
	return out, nil
}

// plainText is the text of a content that is a string or a list of blocks.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &list) != nil {
		return ""
	}
	for _, b := range list {
		text += b.Text
	}
	return text
}

// checkPairs refuses what both APIs refuse: a call without its result in the next
// message, a result without its call in the one before. Messages of one role in a row count as one.
func (r *Request) checkPairs() error {
	open := map[string]bool{}
	var merged []Message
	for _, m := range r.Messages {
		if n := len(merged); n > 0 && merged[n-1].Role == m.Role {
			merged[n-1].Blocks = append(merged[n-1].Blocks[:len(merged[n-1].Blocks):len(merged[n-1].Blocks)], m.Blocks...)
			continue
		}
		merged = append(merged, m)
	}
	for i, m := range merged {
		if m.Role == "user" {
			for _, b := range m.Blocks {
				if b.Type == "tool_result" && !open[b.ID] {
					return fmt.Errorf("messages.%d: the result of %q has no call in the message before", i, b.ID)
				}
				delete(open, b.ID)
			}
		}
		for id := range open {
			return fmt.Errorf("messages.%d: the call %q has no result in the next message", i-1, id)
		}
		for _, b := range m.Blocks {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
	}
	for id := range open {
		return fmt.Errorf("the call %q has no result", id)
	}
	return nil
}
