// Package model is what a model is to us: a conversation goes in, an answer with
// tool calls comes out, and what it cost is known. Implementations are in the
// packages below it; a client's model over MCP is wired in from above.
package model

import (
	"context"
	"encoding/json"
)

// Role says who a message is from.
type Role string

// The roles. Results of tools are messages of the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role   Role
	Blocks []Block
}

// Block is one part of a message: exactly one of its fields is set. Text may
// stand beside nothing else.
type Block struct {
	Text   string
	Call   *Call
	Result *Result
	// Opaque is a part that only its own provider understands and wants back as it was,
	// such as signed thinking; others leave it out.
	Opaque json.RawMessage
}

// Call is a call of a tool that the model asks for.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage // a JSON object; what the model wrote where it is none
}

// Result is what a call gave.
type Result struct {
	ID      string // of the call
	Text    string
	Refused bool // or failed: the text says why
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of its input, an object
}

// Request is one request. What is the same in every request of a run comes first, so
// that a provider reads it from its cache: System, Tools, then Messages[:Shared].
type Request struct {
	System    string
	Tools     []Tool
	Messages  []Message
	Shared    int // messages at the beginning that later requests have too
	MaxTokens int // of the answer; 0 is the implementation's default
	// Progress, where it is set, is told of the answer while it comes, with the bytes
	// so far. It must not block.
	Progress func(bytes int)
}

// Stop says why an answer ended.
type Stop string

// The reasons for which answers end.
const (
	StopDone    Stop = "done"    // the model has nothing to add
	StopCalls   Stop = "calls"   // it waits for results
	StopLength  Stop = "length"  // MaxTokens or the context window
	StopRefused Stop = "refused" // the provider or the model declines
)

// Reply is the answer to a request.
type Reply struct {
	Blocks []Block
	Stop   Stop
	Model  string // that answered
	Usage  Usage
}

// Usage is what requests used. Input does not count what was read from or written to
// the provider's cache.
type Usage struct {
	Requests   int     `json:"requests"`
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadTokens,omitempty"`
	CacheWrite int64   `json:"cacheWriteTokens,omitempty"`
	Cost       float64 `json:"costUSD,omitempty"`
	// Priced says that Cost is known for all of it.
	Priced bool `json:"priced"`
	// Estimated says that tokens are, for want of word from the provider.
	Estimated bool `json:"estimated,omitempty"`
}

// Tokens is what counts against a budget: everything but what came from the cache.
func (u Usage) Tokens() int64 { return u.Input + u.CacheWrite + u.Output }

// Add gives the sum of two.
func (u Usage) Add(v Usage) Usage {
	priced := u.Priced && v.Priced || u.Requests == 0 && v.Priced || v.Requests == 0 && u.Priced
	return Usage{
		Requests: u.Requests + v.Requests, Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Cost: u.Cost + v.Cost, Priced: priced, Estimated: u.Estimated || v.Estimated,
	}
}

// Model answers requests. It is safe for concurrent use.
type Model interface {
	// Name says whose model it is and which, for people: "anthropic claude-haiku-4-5".
	Name() string
	// Reply answers one request. It retries what may succeed later; an error is final,
	// says what to do about it, and never holds a key. A Reply that comes with an error is
	// what was used up to then.
	Reply(ctx context.Context, r Request) (*Reply, error)
}
