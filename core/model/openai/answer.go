package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"mem/core/model"
	"mem/core/model/wire"
)

// maxCalls bounds the calls of one answer; models make a few dozen.
const maxCalls = 1000

// answer puts the chunks of a stream together.
type answer struct {
	wire    *wire.Client
	request model.Request

	begun   bool
	text    strings.Builder
	refusal strings.Builder
	calls   []*call
	stop    sdk.FinishReason
	model   string
	usage   *sdk.Usage
	bytes   int
	hidden  int   // bytes of reasoning, which count as output
	wrong   error // an error that ended the stream in place of a reason
}

// call is a call that grows.
type call struct {
	index    int
	id, name string
	input    strings.Builder
}

func (a *answer) chunk(c sdk.ChatCompletionStreamResponse) error {
	a.begun = a.begun || len(c.Choices) > 0
	if c.Model != "" {
		a.model = c.Model
	}
	if c.Usage != nil && c.Usage.PromptTokens+c.Usage.CompletionTokens > 0 {
		a.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // we ask for one
		}
		d := choice.Delta
		a.text.WriteString(d.Content)
		a.refusal.WriteString(d.Refusal)
		a.hidden += len(d.ReasoningContent)
		a.bytes += len(d.Content) + len(d.Refusal) + len(d.ReasoningContent)
		for i, t := range d.ToolCalls {
			if err := a.call(i, t); err != nil {
				return err
			}
		}
		if choice.FinishReason != "" && choice.FinishReason != sdk.FinishReasonNull {
			a.stop = choice.FinishReason
		}
	}
	if a.stop == "error" { // as routers say when the server behind them broke off
		a.wrong = a.wire.Cut("the server says that an error ended it")
	}
	if a.request.Progress != nil {
		a.request.Progress(a.bytes)
	}
	return nil
}

// call adds to a call. Servers that do not number calls send each whole.
func (a *answer) call(place int, t sdk.ToolCall) error {
	index := place
	if t.Index != nil {
		index = *t.Index
	} else if t.ID != "" {
		index = len(a.calls)
	}
	var c *call
	for _, known := range a.calls {
		// A server that numbers every call 0 tells them apart by id.
		if known.index == index && (t.ID == "" || known.id == "" || known.id == t.ID) {
			c = known
		}
	}
	if c == nil {
		if len(a.calls) >= maxCalls {
			return a.wire.Strange(fmt.Sprintf("more than %d calls in one answer", maxCalls))
		}
		c = &call{index: index}
		a.calls = append(a.calls, c)
	}
	if t.ID != "" {
		c.id = t.ID
	}
	if c.name == "" { // some repeat it with every piece
		c.name = t.Function.Name
	}
	c.input.WriteString(t.Function.Arguments)
	a.bytes += len(t.Function.Arguments)
	return nil
}

// reply gives the answer, or an error where it did not come to its end.
func (a *answer) reply(asked string) (*model.Reply, error) {
	switch {
	case !a.begun:
		return nil, a.wire.Cut("no message began")
	case a.stop == "":
		return nil, a.wire.Cut(fmt.Sprintf("after %d bytes", a.bytes))
	}
	r := &model.Reply{Blocks: a.blocks(), Stop: model.StopDone, Model: a.model, Usage: a.used()}
	if r.Model == "" {
		r.Model = asked
	}
	switch {
	case a.stop == sdk.FinishReasonLength:
		r.Stop = model.StopLength
	case a.stop == sdk.FinishReasonContentFilter, a.refusal.Len() > 0:
		r.Stop = model.StopRefused
	case len(a.calls) > 0: // whatever the server calls that
		r.Stop = model.StopCalls
	}
	return r, nil
}

// blocks are what came.
func (a *answer) blocks() []model.Block {
	var out []model.Block
	if t := a.text.String() + a.refusal.String(); t != "" {
		out = append(out, model.Block{Text: t})
	}
	for i, c := range a.calls {
		in := c.input.String()
		if strings.TrimSpace(in) == "" {
			in = "{}"
		}
		id := c.id
		if id == "" { // as with some local servers; results are told apart by it
			id = fmt.Sprintf("call_%d_%d", len(a.request.Messages), i)
		}
		out = append(out, model.Block{Call: &model.Call{ID: id, Name: c.name, Input: json.RawMessage(in)}})
	}
	return out
}

// used is what was used, by the server's count where it has one.
func (a *answer) used() model.Usage {
	if a.usage == nil {
		u := model.Estimate(a.request, a.blocks())
		u.Output += int64(a.hidden) / model.BytesPerToken
		return u
	}
	u := model.Usage{Requests: 1, Input: int64(a.usage.PromptTokens), Output: int64(a.usage.CompletionTokens)}
	if d := a.usage.PromptTokensDetails; d != nil {
		u.CacheRead = min(int64(d.CachedTokens), u.Input)
		u.Input -= u.CacheRead // which prompt_tokens counts too
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
