package tools

import (
	"context"
	"encoding/json"
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
