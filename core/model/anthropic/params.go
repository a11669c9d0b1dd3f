package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"mem/core/model"
)

// noOutput stands for a result without text, which the API refuses.
const noOutput = "(no output)"

// params makes the body of a request. The same messages always give the same bytes, so
// that the prefix of later requests comes from the cache.
func params(r model.Request, name string) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(name), MaxTokens: DefaultMaxTokens}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	if strings.TrimSpace(r.System) != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, t := range r.Tools {
		tool := sdk.ToolParam{Name: t.Name, InputSchema: schema(t.Schema)}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	shared := -1 // index of the last message that is shared
	for i, m := range r.Messages {
		if blocks := blocks(m); len(blocks) > 0 {
			p.Messages = append(p.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: blocks})
		}
		if i < r.Shared {
			shared = len(p.Messages) - 1
		}
	}
	mark(&p, shared)
	return p
}

// mark sets the four cache marks that the API allows: after the tools and the system
// prompt, after the shared messages, and on the newest message, so that the next request finds
// all of it. The API looks 20 blocks back from a mark for what it has, and one turn with many
// calls is longer than that: so the fourth stands on what was the newest message before.
func mark(p *sdk.MessageNewParams, shared int) {
	cached := sdk.NewCacheControlEphemeralParam()
	switch {
	case len(p.System) > 0:
		p.System[len(p.System)-1].CacheControl = cached
	case len(p.Tools) > 0:
		p.Tools[len(p.Tools)-1].OfTool.CacheControl = cached
	}
	newest := len(p.Messages) - 1
	for _, i := range []int{shared, newest - 2, newest} {
		if i < shared {
			continue // its mark says it all
		}
		for ; i >= 0; i-- {
			if c := markable(p.Messages[i].Content); c != nil {
				*c = cached
				break
			}
		}
	}
}

// markable finds the last block of a message that can carry a mark: none that is
// opaque can.
func markable(blocks []sdk.ContentBlockParamUnion) *sdk.CacheControlEphemeralParam {
	for i := len(blocks) - 1; i >= 0; i-- {
		switch b := blocks[i]; {
		case b.OfText != nil:
			return &b.OfText.CacheControl
		case b.OfToolUse != nil:
			return &b.OfToolUse.CacheControl
		case b.OfToolResult != nil:
			return &b.OfToolResult.CacheControl
		}
	}
	return nil
}

func schema(s json.RawMessage) sdk.ToolInputSchemaParam {
	if !isObject(s) {
		return sdk.ToolInputSchemaParam{Properties: map[string]any{}}
	}
	return param.Override[sdk.ToolInputSchemaParam](s)
}

// blocks are the blocks of a message, results first, as the API wants them. What it
// would refuse, such as an empty text, is left out.
func blocks(m model.Message) []sdk.ContentBlockParamUnion {
	var results, rest []sdk.ContentBlockParamUnion
	for _, b := range m.Blocks {
		switch {
		case b.Result != nil:
			text := b.Result.Text
			if strings.TrimSpace(text) == "" {
				text = noOutput
			}
			results = append(results, sdk.NewToolResultBlock(callID(b.Result.ID), text, b.Result.Refused))
		case b.Call != nil:
			rest = append(rest, sdk.NewToolUseBlock(callID(b.Call.ID), input(b.Call.Input), toolName(b.Call.Name)))
		case len(b.Opaque) > 0:
			if isObject(b.Opaque) {
				rest = append(rest, param.Override[sdk.ContentBlockParamUnion](b.Opaque))
			}
		case strings.TrimSpace(b.Text) != "":
			rest = append(rest, sdk.NewTextBlock(b.Text))
		}
	}
	return append(results, rest...)
}

// input is the input of a call as the API takes it: what is no object, since the model
// wrote none, goes back inside one.
func input(in json.RawMessage) json.RawMessage {
	if isObject(in) {
		return in
	}
	if len(bytes.TrimSpace(in)) == 0 {
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(map[string]string{"invalid": string(in)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

func isObject(s json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(s), []byte("{")) && json.Valid(s)
}

var (
	idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })
	notInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-zA-Z0-9_-]`) })
)

// callID is an id that the API takes: conversations of other models have ids of other
// shapes, which always become the same one.
func callID(id string) string {
	if idPattern().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

// maxToolName is the longest name of a tool that the API takes.
const maxToolName = 128

func toolName(name string) string {
	name = notInName().ReplaceAllString(name, "_")
	if name == "" {
		return "_"
	}
	return name[:min(len(name), maxToolName)]
}
