package fork

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mem/core/model"
)

// TestGarbage feeds what broken models give. Each run ends in order, and what goes back
// to the model could be sent.
func TestGarbage(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		replies []answer
		end     End
		words   string
		asked   int
	}{
		"unknown tool":     {[]answer{calls(want("a", "mcp__evil.tool/../x", `{}`)), says("ok")}, EndDone, "", 1},
		"no JSON":          {[]answer{calls(want("a", "Read", `{"file_path": `)), says("ok")}, EndDone, "", 0},
		"no object":        {[]answer{calls(want("a", "Read", `[1,2]`)), says("ok")}, EndDone, "", 0},
		"no input":         {[]answer{calls(want("a", "Read", ``), want("b", "Read", `null`)), says("ok")}, EndDone, "", 2},
		"no ids":           {[]answer{calls(want("", "Read", `{}`), want("", "Read", `{}`)), calls(want("", "Read", `{"a":1}`)), says("ok")}, EndDone, "", 3},
		"one id":           {[]answer{calls(want("x", "Read", `{}`), want("x", "Read", `{"a":1}`)), says("ok")}, EndDone, "", 2},
		"no name":          {[]answer{calls(want("a", "", `{}`)), says("ok")}, EndDone, "", 1},
		"long name":        {[]answer{calls(want("a", huge, `{}`)), says("ok")}, EndDone, "", 1},
		"empty":            {[]answer{gives(model.StopDone)}, EndFailed, "empty reply, 3 times", 0},
		"white space":      {[]answer{says(" \n ")}, EndFailed, "empty reply, 3 times", 0},
		"empty at the end": {[]answer{calls(want("a", "Read", `{}`)), gives(model.StopDone)}, EndDone, "", 1},
		"empty, then well": {[]answer{gives(model.StopDone), calls(want("a", "Read", `{}`)), says("ok")}, EndDone, "", 1},
		"calls without":    {[]answer{gives(model.StopCalls)}, EndFailed, "empty reply", 0},
		"nil":              {[]answer{func(context.Context, model.Request) (*model.Reply, error) { return nil, nil }}, EndFailed, "neither", 0},
		"error": {[]answer{func(context.Context, model.Request) (*model.Reply, error) {
			return nil, errors.New("no credit: top it up")
		}}, EndFailed, "no credit: top it up", 0},
		"panic":            {[]answer{func(context.Context, model.Request) (*model.Reply, error) { panic("boom") }}, EndFailed, "panicked: boom", 0},
		"the same forever": {[]answer{calls(want("", "Read", `{"file_path":"/memory/a.md"}`))}, EndFailed, "very same calls 4 times in a row: Read /memory/a.md", 4},
		"nothing works":    {[]answer{counting("Nope")}, EndFailed, "10 replies in a row", 10},
		"declined":         {[]answer{gives(model.StopRefused, model.Block{Text: "I will not"}, want("a", "Write", `{"path":"a.md"}`))}, EndFailed, "I will not", 0},
		"cut off text":     {[]answer{gives(model.StopLength, model.Block{Text: "and so"})}, EndFailed, "cut off at the length", 0},
		"cut off call":     {[]answer{gives(model.StopLength, want("a", "Read", `{}`), want("b", "Write", `{"path":"a.md"}`)), says("ok")}, EndDone, "", 1},
		"only cut calls":   {[]answer{gives(model.StopLength, want("b", "Write", `{"path":"a.md`))}, EndFailed, "cut off at the length", 0},
		"half a call":      {[]answer{gives(model.StopLength, want("b", "Write", `{"path":"a`)), says("ok")}, EndDone, "", 0},
		"too many calls":   {[]answer{calls(many(500)...), says("ok")}, EndDone, "", maxCallsAtOnce},
		"opaque alone":     {[]answer{gives(model.StopDone, model.Block{Opaque: json.RawMessage(`{"t":1}`)}), says("ok")}, EndDone, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, d := &script{replies: c.replies}, &desk{}
			out := runs(t, m, Task{Prompt: "p", Tools: d, Limits: Limits{Turns: 50}})
			if out.End != c.end || !strings.Contains(out.Reason, c.words) || len(d.asked) != c.asked {
				t.Errorf("ended %q (%s), %d calls", out.End, out.Reason, len(d.asked))
			}
			for _, r := range m.requests {
				sendable(t, r)
			}
		})
	}
}

func counting(name string) answer {
	n := 0
	return func(context.Context, model.Request) (*model.Reply, error) {
		n++
		return &model.Reply{Stop: model.StopCalls, Usage: oneUse, Blocks: []model.Block{want("", name, fmt.Sprintf(`{"n":%d}`, n))}}, nil
	}
}

func many(n int) []model.Block {
	var bs []model.Block
	for i := range n {
		bs = append(bs, want(fmt.Sprint("c", i), "Read", fmt.Sprintf(`{"n":%d}`, i)))
	}
	return bs
}

// sendable holds what both APIs ask of a conversation.
func sendable(t *testing.T, r model.Request) {
	t.Helper()
	ids := map[string]bool{}
	for i, m := range r.Messages {
		if len(m.Blocks) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		var open []string
		for _, b := range m.Blocks {
			switch {
			case b.Call != nil:
				if ids[b.Call.ID] || b.Call.ID == "" || !isObject(b.Call.Input) || b.Call.Name == "" || len(b.Call.Name) > 64 || strings.ContainsAny(b.Call.Name, "./ ") {
					t.Fatalf("call %+v", b.Call)
				}
				ids[b.Call.ID] = true
				open = append(open, b.Call.ID)
			case b.Result != nil && b.Result.Text == "":
				t.Fatalf("an empty result")
			case b.Result == nil && b.Opaque == nil && strings.TrimSpace(b.Text) == "":
				t.Fatalf("an empty block in message %d", i)
			}
		}
		if len(open) == 0 {
			continue
		}
		if i+1 == len(r.Messages) {
			t.Fatalf("calls without results")
		}
		for k, id := range open {
			if res := r.Messages[i+1].Blocks[k].Result; res == nil || res.ID != id {
				t.Fatalf("call %s has no result at its place", id)
			}
		}
	}
}
