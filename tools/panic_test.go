package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"mem/core/memory"
)

// TestAPanicIsOneToolsOwn lets a tool break down: the call says which one, and the
// next call works.
func TestAPanicIsOneToolsOwn(t *testing.T) {
	broken := true
	tool := spec{name: "broken", in: schema{}, out: schema{}, run: func(context.Context, target, json.RawMessage) (answer, error) {
		if broken {
			panic("out of order")
		}
		return answer{map[string]any{}, "works"}, nil
	}}.bind(func(context.Context, string) (*memory.Memory, error) { return nil, nil }, nil, newQuestions(), &checks{})
	call := func() *mcp.CallToolResult {
		t.Helper()
		r, err := tool.Handler(t.Context(), mcp.CallToolRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := call(); !r.IsError || !strings.Contains(words1(r), "broken broke down: out of order") {
		t.Errorf("%+v", r)
	}
	broken = false
	if r := call(); r.IsError || words1(r) != "works" {
		t.Errorf("%+v", r)
	}
}

// TestAStoppedCallSaysWhy: the session ended, or the client cancelled, and "context canceled" tells nobody which.
func TestAStoppedCallSaysWhy(t *testing.T) {
	why := errors.New("the session has ended")
	tool := spec{name: "slow", in: schema{}, out: schema{}, run: func(ctx context.Context, _ target, _ json.RawMessage) (answer, error) {
		<-ctx.Done()
		return answer{}, fmt.Errorf("reading: %w", ctx.Err())
	}}.bind(func(context.Context, string) (*memory.Memory, error) { return nil, nil }, nil, newQuestions(), &checks{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	r, err := tool.Handler(ctx, mcp.CallToolRequest{})
	if err != nil || !r.IsError || words1(r) != "slow was stopped before it was done: the session has ended. Call it again" {
		t.Errorf("%s, %v", words1(r), err)
	}
}
