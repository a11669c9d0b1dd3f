package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mem/core/memory"
	"mem/core/settings"
)

// bound gives a tool on a memory in a scratch directory.
func bound(t *testing.T, dir string) func(tool string, req mcp.CallToolParams) *mcp.CallToolResult {
	t.Helper()
	base := t.TempDir()
	m, err := memory.Open(memory.Options{MemoryDir: dir, Env: settings.Env{
		Lookup: func(string) (string, bool) { return "", false }, Home: base, Cwd: base,
		StateDir: filepath.Join(base, "state"), ConfigDir: filepath.Join(base, "config"), ManagedSettings: filepath.Join(base, "managed.json"),
		Now: func() time.Time { return time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	open := func(context.Context, string) (*memory.Memory, error) { return m, nil }
	tools := Toolsets()[0].Bind(open, nil)
	return func(tool string, p mcp.CallToolParams) *mcp.CallToolResult {
		t.Helper()
		for _, s := range tools {
			if s.Tool.Name == tool {
				p.Name = tool
				r, err := s.Handler(t.Context(), mcp.CallToolRequest{Params: p})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
		}
		t.Fatalf("there is no tool %s", tool)
		return nil
	}
}

// TestAnAnswerNeedsItsQuestion: the call that writes a secret could bring the
// answer to a question that nobody was asked.
func TestAnAnswerNeedsItsQuestion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	call := bound(t, dir)
	args := map[string]any{"name": "aws", "description": "d", "type": "project", "body": "key " + "AKIA" + "Z7QMX4TRP2LKWD3B"}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	accept := json.RawMessage(`{"action":"accept","content":{"write":true}}`)
	for _, state := range []string{"", "x", fmt.Sprintf("%x", callOf("memory_write", "auto", raw)), callOf("memory_write", "auto", raw)} {
		var p mcp.CallToolParams
		p.Arguments = args
		p.RequestState = state
		var answer mcp.InputResponse
		if err := json.Unmarshal(accept, &answer); err != nil {
			t.Fatal(err)
		}
		p.InputResponses = mcp.InputResponses{consentID: answer}
		if r := call("memory_write", p); !r.IsError || !strings.Contains(fmt.Sprint(r.StructuredContent), kindSecret) {
			t.Errorf("state %q: %+v", state, r)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

func TestQuestions(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)
	q := &questions{now: func() time.Time { return now }}
	first, second := q.ask("a"), q.ask("a")
	if first == second || len(first) < 26 {
		t.Errorf("states %q and %q", first, second)
	}
	if !q.answered(first, "a") || q.answered(first, "a") {
		t.Error("a state is good for one answer")
	}
	if q.answered(second, "b") || q.answered(second, "a") {
		t.Error("an answer holds for its own call only, and its state is used up")
	}
	late := q.ask("a")
	now = now.Add(answerWithin + time.Second)
	if q.answered(late, "a") {
		t.Error("an answer came too late and counted")
	}
	old := q.ask("a")
	for range maxQuestions {
		q.ask("b")
	}
	if len(q.open) > maxQuestions || q.answered(old, "a") {
		t.Errorf("%d questions are kept", len(q.open))
	}
}
