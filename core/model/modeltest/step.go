package modeltest

import (
	"encoding/json"
	"fmt"
	"time"
)

// In is the input of a call.
type In map[string]any

// Use is a call of a tool that the model makes.
type Use struct {
	ID    string // "" is made from the number of the request
	Name  string
	Input any // a string or json.RawMessage is sent as it is, whatever it holds
}

// Usage is what an answer says that it used. Input does not count what came from or
// went into the cache.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int64
}

// Step is one answer. The functions and methods below make most of them.
type Step struct {
	Thinking string // signed; only the Anthropic API has it
	Text     string
	Calls    []Use
	// Stop is why the answer ends: "" is what fits its content, else Length, Refused, or what
	// the API is to say.
	Stop string
	// Usage is what it says it used; nil is counted from the request at 4 bytes a token, with
	// what a provider would have in its cache.
	Usage   *Usage
	NoUsage bool   // says nothing of it, as local servers do
	Model   string // that answers; "" is the one that was asked

	// Status of an error; 0 is an answer. Body is what is sent as it is instead of an answer.
	Status int
	Header map[string]string
	Body   string

	Wait  time.Duration // before anything is sent
	Pause time.Duration // between two events
	// After so many bytes of the stream, the connection is cut, or ended as if all were
	// well, or nothing more comes. 0 is never; 1 is before anything.
	cut, end, stall int
	// Always answers every request from here on.
	Always bool
}

// Reasons to stop, for Step.Stop.
const (
	Length  = "length"
	Refused = "refused"
)

// Say answers with a text.
func Say(text string) Step { return Step{Text: text} }

// Call answers with the call of a tool.
func Call(name string, input any) Step { return Step{}.And(name, input) }

// Fail answers with a status and an error as the API words it.
func Fail(status int, message string) Step { return Step{Status: status, Text: message} }

// Answer sends a body as it is, with status 200.
func Answer(contentType, body string) Step {
	return Step{Body: body}.With("Content-Type", contentType)
}

// And calls one more tool in the same answer.
func (s Step) And(name string, input any) Step {
	s.Calls = append(s.Calls[:len(s.Calls):len(s.Calls)], Use{Name: name, Input: input})
	return s
}

// Saying says a text before the calls.
func (s Step) Saying(text string) Step { s.Text = text; return s }

// ThinkingOf thinks, signed, before all else.
func (s Step) ThinkingOf(text string) Step { s.Thinking = text; return s }

// Using says what it used.
func (s Step) Using(u Usage) Step { s.Usage = &u; return s }

// Stopping ends for a reason: Length, Refused, or what the API is to say.
func (s Step) Stopping(reason string) Step { s.Stop = reason; return s }

// With sets a header of the answer, such as Retry-After.
func (s Step) With(name, value string) Step {
	h := map[string]string{name: value}
	for k, v := range s.Header {
		if k != name {
			h[k] = v
		}
	}
	s.Header = h
	return s
}

// After waits before it answers.
func (s Step) After(d time.Duration) Step { s.Wait = d; return s }

// Slowly waits between two events.
func (s Step) Slowly(d time.Duration) Step { s.Pause = d; return s }

// CutAt breaks the connection after n bytes of the stream.
func (s Step) CutAt(n int) Step { s.cut = n + 1; return s }

// EndAt ends the answer after n bytes of the stream, as if it were over.
func (s Step) EndAt(n int) Step { s.end = n + 1; return s }

// StallAt sends n bytes of the stream and then nothing more, until the client leaves.
func (s Step) StallAt(n int) Step { s.stall = n + 1; return s }

// Forever answers every request from here on.
func (s Step) Forever() Step { s.Always = true; return s }

// input is the input of a call as it is sent.
func (u Use) input() string {
	switch in := u.Input.(type) {
	case nil:
		return "{}"
	case string:
		return in
	case json.RawMessage:
		return string(in)
	}
	b, err := json.Marshal(u.Input)
	if err != nil {
		panic(fmt.Sprintf("modeltest: the input of %s: %v", u.Name, err))
	}
	return string(b)
}

// id of the i-th call of the answer to the n-th request.
func (u Use) id(api string, n, i int) string {
	if u.ID != "" {
		return u.ID
	}
	if api == OpenAI {
		return fmt.Sprintf("call_%d_%d", n, i+1)
	}
	return fmt.Sprintf("toolu_%d_%d", n, i+1)
}
