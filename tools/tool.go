// Package tools owns the MCP tools: for each one its definition, its argument
// and result schemas, and a handler that calls core. A user's mistake is a tool
// result with isError; a Go error is a fault of ours.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/sessions"
)

// Opener gives the memory that a call works on, by the name of its store; "" is the
// one that the server was started for.
type Opener func(ctx context.Context, store string) (*memory.Memory, error)

// SessionsOf gives the sessions of the project that a memory belongs to.
type SessionsOf func(*memory.Memory) *sessions.Sessions

// spec is a tool as a value: everything about it but where memory comes from.
type spec struct {
	name, title, description string
	in, out                  schema
	// readOnly, destructive and idempotent are the hints; no tool of ours
	// reaches beyond this machine.
	readOnly, destructive, idempotent bool
	// eager keeps a client from hiding the tool behind a search.
	eager bool
	run   func(ctx context.Context, m target, args json.RawMessage) (answer, error)
}

// answer is what a tool gives: a structured result that says everything, and
// the same in words.
type answer struct {
	value any
	text  string
}

// handle wraps a typed handler with strict decoding of its arguments.
func handle[A any](f func(ctx context.Context, m target, args A) (answer, error)) func(context.Context, target, json.RawMessage) (answer, error) {
	return func(ctx context.Context, m target, raw json.RawMessage) (answer, error) {
		var args A
		if err := decode(raw, &args); err != nil {
			return answer{}, err
		}
		return f(ctx, m, args)
	}
}

// decode reads arguments; an unknown one or one of a wrong type is named.
func decode(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return fmt.Errorf("the argument %q is a %s; it must be a %s", wrong.Field, wrong.Value, wrong.Type)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return fmt.Errorf("there is no argument %s; see the tool's input schema", strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return fmt.Errorf("the arguments are not a JSON object: %w", err)
}

// maxResultSize is what a client is told a result may have, in characters.
const maxResultSize = 50_000

// definition gives the tool as clients see it.
func (s spec) definition() mcp.Tool { return s.defined(s.in.object()) }

func (s spec) defined(in json.RawMessage) mcp.Tool {
	t := mcp.NewToolWithRawSchema(s.name, s.description, in)
	t.RawOutputSchema = s.out.with(problemParts()...).published()
	t.Title = s.title
	closed := false
	t.Annotations = mcp.ToolAnnotation{Title: s.title, ReadOnlyHint: &s.readOnly, DestructiveHint: &s.destructive, IdempotentHint: &s.idempotent, OpenWorldHint: &closed}
	meta := map[string]any{"anthropic/maxResultSizeChars": maxResultSize}
	if s.eager {
		meta["anthropic/alwaysLoad"] = true
	}
	t.Meta = &mcp.Meta{AdditionalFields: meta}
	return t
}

// bind makes the tool callable on what open gives.
func (s spec) bind(open Opener, of SessionsOf, questions *questions, checks *checks, with ...Options) server.ServerTool {
	in, out := s.in.object(), s.out.object()
	check, result := &validator{name: s.name, schema: in}, &validator{name: s.name, schema: out}
	return server.ServerTool{Tool: s.defined(in), Handler: func(ctx context.Context, req mcp.CallToolRequest) (reply *mcp.CallToolResult, err error) {
		defer func() {
			if r := recover(); r != nil {
				reply, err = failed(fmt.Errorf("the tool %s broke down: %v. The others go on; please report this with: %s", s.name, r, firstFrames())), nil
			}
		}()
		raw, err := encodeArguments(req.Params.Arguments)
		if err == nil {
			err = check.check(raw)
		}
		if err != nil {
			return failed(err), nil
		}
		name, others, named := storeOf(req.Params.Arguments)
		if named {
			if raw, err = json.Marshal(others); err != nil {
				return failed(err), nil
			}
		}
		ctx = withRoots(ctx, req)
		if _, err := memdir.ParseStore(name); err != nil {
			return failed(fmt.Errorf("the argument %q: %w", storeName, err)), nil
		}
		if !s.takesStore() {
			name = memory.StoreAuto // it is about the project
		}
		m, err := open(ctx, name)
		if errors.Is(err, ErrNeedRoots) {
			return askRoots(), nil
		}
		if err != nil {
			return failed(err), nil
		}
		call := callOf(s.name, name, raw)
		ctx, asked := questions.consent(ctx, req, call)
		ctx, quiet := withProgress(ctx, req, s.title)
		defer quiet()
		on := target{Memory: m, checks: checks, sessionsOf: of, open: open}
		if len(with) > 0 {
			on.with = with[0]
		}
		a, err := s.run(ctx, on, raw)
		if q, p, what := question(err); q != nil && !asked && canAsk(ctx) {
			if server.IsModernRequest(ctx) {
				return server.NewInputRequestBuilder(questions.askAbout(p.id+call, what)).Elicit(p.id, *q).ToolResult(), nil
			}
			if p.allowed(ask(ctx, *q)) {
				a, err = s.run(p.grant(ctx, what), on, raw)
			}
		}
		if err != nil {
			return failed(s.stopped(ctx, err)), nil
		}
		return whole(a, result)
	}}
}

// stopped says why a call was stopped, where that is what err tells.
func (s spec) stopped(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil && errors.Is(err, context.Canceled) && !errors.Is(err, why) {
		return fmt.Errorf("%s was stopped before it was done: %w. Call it again", s.name, why)
	}
	return err
}

// whole puts an answer into a result that is no larger than clients take. Where
// the two parts together are, the words end early; all lists and texts of the
// structured part are bounded where they are made.
func whole(a answer, check *validator) (*mcp.CallToolResult, error) {
	const rest = 1_000 // of what is around the two, and the mark
	b, err := json.Marshal(a.value)
	if err == nil {
		err = check.checkResult(b)
	}
	if err != nil {
		return nil, err
	}
	if len(a.text) > (maxResultSize-rest-len(b))/6 { // else they fit; there are no more characters than bytes
		a.text = fitted(a.text, maxResultSize-rest-utf8.RuneCount(b))
	}
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(b), Content: []mcp.Content{mcp.NewTextContent(a.text)}}, nil
}

// fitted ends words early that are more than there is room for, in characters.
func fitted(words string, room int) string {
	if len(words) <= room/6 {
		return words
	}
	short := memory.Fit(words, max(room, 0))
	if short == words {
		return words
	}
	return short + "\n(cut; the structured part of this result has all of it)"
}

// encodeArguments gives the arguments of a call as JSON; a call without any has an object
// without properties.
func encodeArguments(args any) (json.RawMessage, error) {
	if args == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(args)
}

// storeOf takes the store out of checked arguments, since every tool has it. It reports
// whether it is among them.
func storeOf(checked any) (store string, rest any, named bool) {
	all, _ := checked.(map[string]any)
	store, named = all[storeName].(string)
	if !named {
		return "", checked, false
	}
	others := maps.Clone(all)
	delete(others, storeName)
	return store, others, true
}

// takesStore reports whether the tool works on the memory that its argument names.
func (s spec) takesStore() bool {
	return slices.ContainsFunc(s.in, func(p property) bool { return p.name == storeName })
}

func firstFrames() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	return strings.Join(lines[:min(len(lines), 14)], " | ")
}
