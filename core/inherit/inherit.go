// Package inherit gives a forked agent the conversation that it inherits: what a client
// would send since the last boundary, as messages of a model, without secrets, within a
// budget, with word of what is new in it.
package inherit

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"mem/core/guard"
	"mem/core/model"
	"mem/core/transcript"
	"mem/core/transcript/deliver"
	"mem/core/transcript/shown"
)

// DefaultBudget is how much of a conversation is handed on, in tokens: what models with
// the smallest windows in use (200,000) take with room for the work itself.
const DefaultBudget = 120_000

// Options say what of a conversation is handed on.
type Options struct {
	Budget int // tokens; 0 is DefaultBudget
	// Since is the message after which everything is new; the zero value means that all is.
	Since  transcript.UUID
	Redact *guard.Scanner // required: nothing leaves for an engine with its secrets
}

// Conversation is what an agent inherits.
type Conversation struct {
	Messages []model.Message
	// Leaf is the message that it ends with.
	Leaf  transcript.UUID
	Time  time.Time // of it, or of the last one that has a time
	Model string    // that answered last
	Cwd   string
	New   New
	// LeftOut says in words what is not in it; "" where nothing is missing.
	LeftOut string
	Secrets int // different ones that were taken out
	Tokens  int // about
}

// New is the part of a conversation that is new.
type New struct {
	Rows  int // of the transcript; 0 where nothing is new
	Turns int // prompts of a person
	// All says that the whole conversation is new: Since is not on it, or was not given.
	All bool
	// First is how the new part begins, on one line: its first prompt, else its first words.
	First string
}

// firstWords is how much of the first new message names it, in characters.
const firstWords = 160

// Take gives the conversation that ends in the leaf of c.
func Take(ctx context.Context, src io.ReaderAt, t *transcript.Transcript, c *transcript.Chain, o Options) (*Conversation, error) {
	if o.Redact == nil {
		return nil, fmt.Errorf("a conversation is handed on without its secrets only")
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	d, err := deliver.Deliver(ctx, src, t, c, deliver.Options{BudgetTokens: o.Budget, Format: deliver.Messages, ToolResults: true, Redact: o.Redact})
	if err != nil {
		return nil, err
	}
	out := &Conversation{Messages: messages(d.Messages), Leaf: c.ResumePoint(t), Model: d.Model, Cwd: d.Cwd, Secrets: d.Secrets, Tokens: d.Tokens, Time: d.End}
	if n := d.LeftOut.Turns + d.LeftOut.Rows; n > 0 {
		out.LeftOut = fmt.Sprintf("%s in %s of the conversation are older than what is here", shown.Count(d.LeftOut.Rows, "record", "records"), shown.Count(d.LeftOut.Turns, "turn", "turns"))
	}
	if n := d.LeftOut.Shortened; n > 0 {
		if out.LeftOut != "" {
			out.LeftOut += "; "
		}
		out.LeftOut += shown.Count(n, "text is shortened", "texts are shortened")
	}
	out.New, err = fresh(ctx, src, t, c, o)
	return out, err
}

// fresh finds what is new.
func fresh(ctx context.Context, src io.ReaderAt, t *transcript.Transcript, c *transcript.Chain, o Options) (New, error) {
	n := New{All: true}
	from := 0
	if !o.Since.IsZero() {
		for p := len(c.Rows) - 1; p >= 0; p-- {
			if t.Rows.At(c.Rows[p]).UUID == o.Since {
				n.All, from = false, p+1
				break
			}
		}
	}
	first := -1
	for _, i := range c.Rows[from:] {
		r := t.Rows.At(i)
		if r.Kind != transcript.User && r.Kind != transcript.Assistant {
			continue
		}
		n.Rows++
		if r.Flags.Has(transcript.FlagPrompt) {
			if n.Turns == 0 {
				first = i
			}
			n.Turns++
		} else if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return n, nil
	}
	for m, err := range transcript.Load(ctx, src, t, []int{first}) {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		if err == nil {
			n.First = shown.FirstLine(shown.NewRedactor(o.Redact).Text(m.Text()), firstWords)
		}
	}
	return n, nil
}

// messages turns those of the API into those of a model. Pictures become a word.
func messages(in []deliver.APIMessage) []model.Message {
	var out []model.Message
	for _, m := range in {
		msg := model.Message{Role: model.User}
		if m.Role == "assistant" {
			msg.Role = model.Assistant
		}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				msg.Blocks = append(msg.Blocks, model.Block{Text: b.Text})
			case "tool_use":
				msg.Blocks = append(msg.Blocks, model.Block{Call: &model.Call{ID: b.ID, Name: b.Name, Input: b.Input}})
			case "tool_result":
				msg.Blocks = append(msg.Blocks, model.Block{Result: &model.Result{ID: b.ToolUseID, Text: plain(b.Content), Refused: b.IsError}})
			case "image", "document":
				msg.Blocks = append(msg.Blocks, model.Block{Text: "[" + b.Type + "]"})
			}
		}
		if len(msg.Blocks) > 0 {
			out = append(out, msg)
		}
	}
	return out
}

func plain(blocks []deliver.APIBlock) string {
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		} else {
			parts = append(parts, "["+b.Type+"]")
		}
	}
	return strings.Join(parts, "\n")
}
