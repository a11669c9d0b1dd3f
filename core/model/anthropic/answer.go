package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"mem/core/model"
	"mem/core/model/wire"
)

// maxBlocks bounds the blocks of one answer; models make a few dozen.
const maxBlocks = 1000

// answer puts the events of a stream together. The SDK's own accumulator empties an input
// that is no JSON, which the model has to be told of.
type answer struct {
	wire    *wire.Client
	request model.Request

	begun bool
	parts []*part
	stop  sdk.StopReason
	over  bool
	model string
	usage model.Usage
	said  bool // how many tokens the answer has
	bytes int
}

// part is a block that grows.
type part struct {
	start                            sdk.ContentBlockStartEventContentBlockUnion
	text, input, thinking, signature strings.Builder
}

func (a *answer) event(e sdk.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		a.begun, a.model = true, e.Message.Model
		u := e.Message.Usage
		a.usage = model.Usage{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens}
	case "content_block_start":
		if e.Index != int64(len(a.parts)) || len(a.parts) >= maxBlocks {
			return a.wire.Strange(fmt.Sprintf("block %d begins after %d blocks", e.Index, len(a.parts)))
		}
		p := &part{start: e.ContentBlock}
		p.text.WriteString(e.ContentBlock.Text)
		p.thinking.WriteString(e.ContentBlock.Thinking)
		p.signature.WriteString(e.ContentBlock.Signature)
		a.parts = append(a.parts, p)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= int64(len(a.parts)) {
			return a.wire.Strange(fmt.Sprintf("there is more of block %d, which did not begin", e.Index))
		}
		p, d := a.parts[e.Index], e.Delta
		p.text.WriteString(d.Text)
		p.input.WriteString(d.PartialJSON)
		p.thinking.WriteString(d.Thinking)
		p.signature.WriteString(d.Signature)
		a.bytes += len(d.Text) + len(d.PartialJSON) + len(d.Thinking)
		if a.request.Progress != nil {
			a.request.Progress(a.bytes)
		}
	case "message_delta":
		a.stop = e.Delta.StopReason
		u := e.Usage
		if u.JSON.OutputTokens.Valid() {
			a.usage.Output, a.said = u.OutputTokens, true
		}
		// What is left out here message_start has said.
		if u.JSON.InputTokens.Valid() && u.InputTokens > 0 {
			a.usage.Input = u.InputTokens
		}
		if u.JSON.CacheReadInputTokens.Valid() && u.CacheReadInputTokens > 0 {
			a.usage.CacheRead = u.CacheReadInputTokens
		}
		if u.JSON.CacheCreationInputTokens.Valid() && u.CacheCreationInputTokens > 0 {
			a.usage.CacheWrite = u.CacheCreationInputTokens
		}
	case "message_stop":
		a.over = true
	}
	return nil
}

// reply gives the answer, or an error where it did not come to its end.
func (a *answer) reply(asked string) (*model.Reply, error) {
	switch {
	case !a.begun:
		return nil, a.wire.Cut("no message began")
	case a.stop == "" && !a.over:
		return nil, a.wire.Cut(fmt.Sprintf("after %d bytes", a.bytes))
	}
	r := &model.Reply{Blocks: a.blocks(), Stop: model.StopDone, Model: a.model, Usage: a.used()}
	if r.Model == "" {
		r.Model = asked
	}
	for _, b := range r.Blocks {
		if b.Call != nil {
			r.Stop = model.StopCalls
		}
	}
	switch a.stop {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		r.Stop = model.StopLength
	case sdk.StopReasonRefusal:
		r.Stop = model.StopRefused
	}
	return r, nil
}

// blocks are what came.
func (a *answer) blocks() []model.Block {
	var out []model.Block
	for _, p := range a.parts {
		switch p.start.Type {
		case "text":
			if p.text.Len() > 0 {
				out = append(out, model.Block{Text: p.text.String()})
			}
		case "tool_use":
			out = append(out, model.Block{Call: &model.Call{ID: p.start.ID, Name: p.start.Name, Input: p.called()}})
		case "thinking", "redacted_thinking":
			if raw := p.opaque(); raw != nil {
				out = append(out, model.Block{Opaque: raw})
			}
		}
		// There is nothing else without tools of the provider, which we never ask for.
	}
	return out
}

// called is the input of a call.
func (p *part) called() json.RawMessage {
	if p.input.Len() > 0 {
		return json.RawMessage(p.input.String())
	}
	if b, err := json.Marshal(p.start.Input); err == nil && isObject(b) {
		return b
	}
	return json.RawMessage("{}")
}

// opaque is a block of thinking as the provider wants it back.
func (p *part) opaque() json.RawMessage {
	raw := json.RawMessage(p.start.RawJSON())
	if p.start.Type == "redacted_thinking" {
		return raw
	}
	if p.signature.Len() == 0 {
		return nil // was cut off; unsigned, it is not taken back
	}
	b, err := json.Marshal(struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}{p.start.Type, p.thinking.String(), p.signature.String()})
	if err != nil {
		return nil
	}
	return b
}

// used is what was used. Where the stream was cut or its sender does not count, the answer
// is estimated; where nobody says anything, all of it.
func (a *answer) used() model.Usage {
	u := a.usage
	u.Requests = 1
	guess := model.Estimate(a.request, a.blocks())
	if !a.said || u.Output == 0 && guess.Output > 0 {
		u.Output, u.Estimated = max(u.Output, guess.Output), true
	}
	if u.Input+u.CacheRead+u.CacheWrite == 0 {
		u.Input, u.Estimated = guess.Input, true
	}
	return u
}

// spent is the reply of an attempt that failed: what it used.
func (a *answer) spent() *model.Reply {
	if !a.begun {
		return nil
	}
	return &model.Reply{Model: a.model, Usage: a.used()}
}

// failure gives the words for an error of the SDK: mostly the transport's own, else an
// error that the API sent in the stream.
func (p *provider) failure(err error) error {
	var f *wire.Failure
	if errors.As(err, &f) {
		return f
	}
	var inStream *sdk.Error
	if !errors.As(err, &inStream) {
		return err
	}
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(inStream.RawJSON()), &body) != nil || body.Error.Type == "" && body.Error.Message == "" {
		return p.wire.Strange(inStream.RawJSON())
	}
	return p.wire.InStream(body.Error.Type, body.Error.Message)
}
