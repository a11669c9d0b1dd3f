// Package hook is what mem does at the events of a client: a session begins, a prompt is
// sent, tools ran, a turn ended, the conversation is compacted. A client calls it as a
// program of its hooks and waits for it, so everything here is quick, bounded, and never in
// the way: what takes long is handed to a process of its own.
package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Event is what happened, whatever the client calls it.
type Event string

// The events that mem does something at.
const (
	SessionStart Event = "session-start"
	Prompt       Event = "prompt" // a person sent one
	Tools        Event = "tools"  // a tool, or a batch of them, ran
	Stop         Event = "stop"   // a turn ended
	SubagentStop Event = "subagent-stop"
	PreCompact   Event = "pre-compact" // the conversation is about to be summarised
	SessionEnd   Event = "session-end"
)

// Events are all of them, as a session goes.
var Events = []Event{SessionStart, Prompt, Tools, Stop, SubagentStop, PreCompact, SessionEnd}

// MaxPayload bounds what a client may send, in bytes: results of tools are part of some
// payloads, and clients keep those below a few megabytes.
const MaxPayload = 32 << 20

// Turn is what a client said of an event.
type Turn struct {
	Client     Client
	Event      Event
	Name       string // of the event, as the client calls it
	Session    string
	Transcript string // path of the client's own transcript; "" when it keeps none
	Cwd        string
	Source     string // of a session's start, or what made a compaction begin
	Agent      string // id of the subagent that it happened in; "" in the main one
	Prompt     string // what the person sent, where the payload has it
	Answer     string // what the agent said last, where the payload has it
	Again      bool   // the turn went on because another hook asked for it
}

// payload is the union of what the clients send, see docs/hooks.md.
type payload struct {
	Event      string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	Source     string `json:"source"`
	Trigger    string `json:"trigger"`
	Agent      string `json:"agent_id"`
	Prompt     string `json:"prompt"`
	Submitted  string `json:"submitted_prompt"`
	PromptID   string `json:"prompt_id"` // newer versions of clients that tell what was typed have it
	Response   string `json:"prompt_response"`
	Last       string `json:"last_assistant_message"`
	Active     bool   `json:"stop_hook_active"`
}

// UnknownEventError says that nothing is done at an event.
type UnknownEventError struct {
	Client, Name string
}

func (e *UnknownEventError) Error() string {
	return fmt.Sprintf("the event %q of %s is none that mem does something at", cut(e.Name, 60), e.Client)
}

// ErrEmpty says that there is no payload.
var ErrEmpty = errors.New("the payload is empty; a client gives it on standard input")

// Read reads what a client sent.
func Read(c Client, r io.Reader) (*Turn, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxPayload+1))
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	if len(b) > MaxPayload {
		return nil, fmt.Errorf("the payload is larger than %d bytes", MaxPayload)
	}
	if len(strings.TrimSpace(string(b[:min(len(b), 64)]))) == 0 {
		return nil, ErrEmpty
	}
	var p payload
	if err := json.Unmarshal(b, &p); err != nil {
		// Its text may be private: only where it goes wrong is told.
		var at *json.SyntaxError
		var typ *json.UnmarshalTypeError
		switch {
		case errors.As(err, &at):
			return nil, fmt.Errorf("the payload is no JSON: at byte %d of %d", at.Offset, len(b))
		case errors.As(err, &typ) && typ.Field != "":
			return nil, fmt.Errorf("the payload is none of %s: %s has the wrong type, %s", c.Name, typ.Field, typ.Value)
		}
		return nil, fmt.Errorf("the payload is no JSON object of %s", c.Name)
	}
	if p.Event == "" {
		return nil, fmt.Errorf("the payload is none of %s: it has no hook_event_name", c.Name)
	}
	t := &Turn{
		Client: c, Name: p.Event, Session: p.Session, Transcript: p.Transcript, Cwd: p.Cwd, Source: p.Source,
		Agent: p.Agent, Prompt: p.Prompt, Answer: p.Last, Again: p.Active,
	}
	if t.Source == "" {
		t.Source = p.Trigger
	}
	if t.Answer == "" {
		t.Answer = p.Response
	}
	if c.Submitted && (p.Submitted != "" || p.PromptID != "") {
		t.Prompt = p.Submitted // older versions have the prompt alone, as it was typed
	}
	t.Prompt = unwrapped(t.Prompt, c.wrap)
	for _, path := range []*string{&t.Transcript, &t.Cwd} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = "" // relative to what?
		}
	}
	var ok bool
	if t.Event, ok = c.Events[p.Event]; !ok {
		return nil, &UnknownEventError{c.Name, p.Event}
	}
	return t, nil
}

// unwrapped gives a prompt without what hooks said before and behind it.
func unwrapped(prompt, element string) string {
	if element == "" {
		return prompt
	}
	open, end := "<"+element+">", "</"+element+">"
	for strings.HasPrefix(prompt, open) {
		_, rest, closed := strings.Cut(prompt, end)
		if !closed {
			break
		}
		prompt = strings.TrimLeft(rest, "\n")
	}
	if strings.HasSuffix(prompt, end) {
		if i := strings.LastIndex(prompt, open); i >= 0 {
			prompt = strings.TrimRight(prompt[:i], "\n")
		}
	}
	return prompt
}

// cut puts s on one line of at most n characters.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
