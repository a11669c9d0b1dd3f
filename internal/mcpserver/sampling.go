package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memdir"
	"mem/core/model"
)

// maxSampled is the longest answer that a client is asked for, in tokens, where no limit
// is nearer. The protocol wants a number.
const maxSampled = 8192

// sampling gives the model of the client that made this call, nil where there is none to
// ask. It may be used after the call, as long as the client is connected.
//
// A client has to have declared sampling with tools (2025-11-25). In the stateless era a
// server asks only by the result of a call, which a job in the background does not have,
// and sampling is deprecated there: those clients get host jobs.
func (s *Server) sampling(ctx context.Context) model.Model {
	if server.IsModernRequest(ctx) {
		return nil
	}
	session := server.ClientSessionFromContext(ctx)
	asks, ok := session.(server.SessionWithSampling)
	if !ok {
		return nil
	}
	info, ok := session.(server.SessionWithClientInfo)
	if !ok {
		return nil
	}
	if caps := info.GetClientCapabilities(); caps.Sampling == nil || caps.Sampling.Tools == nil {
		return nil
	}
	return &clientModel{asks, memdir.Shown(info.GetClientInfo().Name, 60)}
}

// clientModel is the model of a client, asked by sampling.
type clientModel struct {
	session server.SessionWithSampling
	client  string
}

// Name implements model.Model.
func (c *clientModel) Name() string { return strings.TrimSpace("the model of " + c.client) }

// Reply implements model.Model. The protocol says nothing of what was used, so usage is
// estimated, and its cost is not known.
func (c *clientModel) Reply(ctx context.Context, r model.Request) (*model.Reply, error) {
	params := mcp.CreateMessageParams{
		Messages: samplingMessages(r.Messages), SystemPrompt: r.System, IncludeContext: "none", MaxTokens: r.MaxTokens,
	}
	if params.MaxTokens <= 0 {
		params.MaxTokens = maxSampled
	}
	for _, t := range r.Tools {
		params.Tools = append(params.Tools, mcp.NewToolWithRawSchema(t.Name, t.Description, schemaOf(t)))
	}
	res, err := c.session.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: params})
	if err != nil {
		return &model.Reply{Usage: model.Estimate(r, nil)}, fmt.Errorf("the client did not answer for its model: %w; it may have asked a person, who declined", err)
	}
	blocks, err := samplingBlocks(res.Content)
	if err != nil {
		return &model.Reply{Usage: model.Estimate(r, nil)}, fmt.Errorf("the client's answer for its model cannot be read: %w", err)
	}
	name := memdir.Shown(res.Model, 80)
	if name == "" {
		name = c.Name()
	}
	reply := &model.Reply{Blocks: blocks, Model: name, Usage: model.Estimate(r, blocks), Stop: model.StopDone}
	for _, b := range blocks {
		if b.Call != nil {
			reply.Stop = model.StopCalls
		}
	}
	if res.StopReason == "maxTokens" {
		reply.Stop = model.StopLength
	}
	return reply, nil
}

func schemaOf(t model.Tool) json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.Schema
}

// samplingMessages gives a conversation as the protocol wants it: a message with results
// of tools holds nothing else, and roles alternate. Text beside results joins the last of
// them.
func samplingMessages(messages []model.Message) []mcp.SamplingMessage {
	var out []mcp.SamplingMessage
	results := false // the last message holds some
	for _, m := range messages {
		var content []mcp.Content
		last := -1 // the last result
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				content = append(content, mcp.ToolResultContent{Type: "tool_result", ToolUseID: b.Result.ID, Content: []mcp.Content{mcp.NewTextContent(b.Result.Text)}, IsError: b.Result.Refused})
				last = len(content) - 1
			case b.Call != nil:
				content = append(content, mcp.ToolUseContent{Type: "tool_use", ID: b.Call.ID, Name: b.Call.Name, Input: b.Call.Input})
			case b.Text != "" && last >= 0:
				r := content[last].(mcp.ToolResultContent)
				r.Content = append(r.Content, mcp.NewTextContent(b.Text))
				content[last] = r
			case b.Text != "":
				content = append(content, mcp.NewTextContent(b.Text))
			}
		}
		if len(content) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == mcp.Role(m.Role) && !results && last < 0 {
			out[n-1].Content = append(out[n-1].Content.([]mcp.Content), content...)
			continue
		}
		out = append(out, mcp.SamplingMessage{Role: mcp.Role(m.Role), Content: content})
		results = last >= 0
	}
	return out
}

// samplingBlocks reads what the client's model answered: one content, or several.
func samplingBlocks(content any) ([]model.Block, error) {
	var blocks []model.Block
	parts, ok := content.([]mcp.Content)
	if !ok {
		one, ok := content.(mcp.Content)
		if !ok {
			return nil, errors.New("it has no content")
		}
		parts = []mcp.Content{one}
	}
	for _, p := range parts {
		switch p := p.(type) {
		case mcp.TextContent:
			blocks = append(blocks, model.Block{Text: p.Text})
		case mcp.ToolUseContent:
			input, err := json.Marshal(p.Input)
			if err != nil {
				return nil, fmt.Errorf("the input of %s: %w", memdir.ShownName(p.Name), err)
			}
			blocks = append(blocks, model.Block{Call: &model.Call{ID: p.ID, Name: p.Name, Input: input}})
		default:
			return nil, fmt.Errorf("it holds %T, which nobody asked for", p)
		}
	}
	return blocks, nil
}
