package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// Message is one row, decoded.
type Message struct {
	Row          int // its index in Transcript.Rows
	Line         int
	UUID, Parent string // as the record says
	Type         string // user, assistant, system, attachment, …
	Subtype      string // of a system row; the type of an attachment
	Role         string // user, assistant or system: who speaks, as far as the record says
	ID           string // message.id: the rows of one answer share it
	Timestamp    time.Time
	Cwd, Branch  string
	Session      string
	Version      string
	Model        string
	Agent        string // of a subagent's row
	Flags        Flags
	Content      []Block
	// Raw is the record as it stands in the file, with all that is not known here.
	Raw json.RawMessage
}

// Text is the text of the message's blocks of type "text", one below the other.
func (m *Message) Text() string {
	var parts []string
	for _, b := range m.Content {
		if b.Type == "text" && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Block is a content block of a message.
type Block struct {
	Type string // text, thinking, tool_use, tool_result, image, attachment, …
	// Text of a text or thinking block, of a result that is one text, or of what
	// the client showed the model for an attachment.
	Text string
	Name string // of the tool that is called; of an attachment its type
	// ID of the call: on the call itself and on its result.
	ID      string
	Input   json.RawMessage // arguments of a call
	IsError bool            // of a result
	Blocks  []Block         // of a result that is made of blocks
	Raw     json.RawMessage // the whole block; for a plain string that string
}

// Load decodes rows of t, given as indexes into t.Rows, one after the other. A
// row that cannot be read gives a Message with Row, Line and nothing else, and
// the error; the others still come. It stops when ctx is done, with its error.
func Load(ctx context.Context, src io.ReaderAt, t *Transcript, rows []int) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, i := range rows {
			if err := ctx.Err(); err != nil {
				yield(Message{}, err)
				return
			}
			if i < 0 || i >= t.Rows.Len() {
				if !yield(Message{Row: i}, fmt.Errorf("row %d is not in the transcript", i)) {
					return
				}
				continue
			}
			m, err := loadRow(src, t.Rows.At(i))
			m.Row, m.Line = i, int(t.Rows.At(i).Line)
			if !yield(m, err) {
				return
			}
		}
	}
}

func loadRow(src io.ReaderAt, r *Row) (Message, error) {
	// The message keeps parts of the buffer, so each gets its own.
	raw := make([]byte, r.Len)
	if n, err := src.ReadAt(raw, r.Offset); n < len(raw) {
		if err == nil || errors.Is(err, io.EOF) {
			err = ErrChanged
		}
		return Message{}, fmt.Errorf("reading the record of line %d: %w", r.Line, err)
	}
	m, err := decode(raw)
	if err != nil {
		return Message{}, fmt.Errorf("reading the record of line %d: %w", r.Line, err)
	}
	if r.Kind != Collapse && ParseUUID(m.UUID) != r.UUID {
		return Message{}, fmt.Errorf("reading the record of line %d: %w", r.Line, ErrChanged)
	}
	m.Flags = r.Flags
	return m, nil
}

// fields are the members of a record. They are taken one by one, so that one of
// an unexpected type costs no more than itself.
type fields map[string]json.RawMessage

func (f fields) str(key string) string {
	var s string
	if json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

func (f fields) object(key string) fields {
	var o fields
	if json.Unmarshal(f[key], &o) != nil {
		return nil
	}
	return o
}

func decode(raw []byte) (Message, error) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return Message{}, ErrChanged
	}
	m := Message{
		UUID: f.str("uuid"), Parent: f.str("parentUuid"), Type: f.str("type"), Subtype: f.str("subtype"),
		Cwd: f.str("cwd"), Branch: f.str("gitBranch"), Session: f.str("sessionId"), Version: f.str("version"),
		Agent: f.str("agentId"), Raw: raw,
	}
	m.Timestamp, _ = time.Parse(time.RFC3339, f.str("timestamp"))
	switch {
	case f["attachment"] != nil:
		a := f.object("attachment")
		m.Role, m.Subtype = "system", a.str("type")
		if role := f.str("renderedRole"); role != "" {
			m.Role = role
		}
		m.Content = []Block{{Type: "attachment", Name: m.Subtype, Text: rendered(f["rendered"]), Raw: f["attachment"]}}
	case f["message"] != nil:
		api := f.object("message")
		m.Role, m.ID, m.Model = api.str("role"), api.str("id"), api.str("model")
		m.Content = blocks(api["content"])
	default:
		m.Role = "system"
		m.Content = blocks(f["content"])
	}
	if m.Role == "" {
		m.Role = m.Type
	}
	return m, nil
}

// blocks decodes content: a string, or an array of blocks.
func blocks(raw json.RawMessage) []Block {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
		return []Block{{Type: "text", Text: s, Raw: raw}}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	out := make([]Block, 0, len(items))
	for _, it := range items {
		out = append(out, block(it))
	}
	return out
}

func block(raw json.RawMessage) Block {
	if len(raw) > 0 && raw[0] == '"' {
		return blocks(raw)[0]
	}
	var f fields
	_ = json.Unmarshal(raw, &f) // no object: a block that only has Raw
	b := Block{Type: f.str("type"), Text: f.str("text"), Name: f.str("name"), ID: f.str("id"), Input: f["input"], Raw: raw}
	switch b.Type {
	case "thinking":
		b.Text = f.str("thinking")
	case "tool_result":
		b.ID = f.str("tool_use_id")
		_ = json.Unmarshal(f["is_error"], &b.IsError)
		inner := blocks(f["content"])
		if len(inner) == 1 && len(f["content"]) > 0 && f["content"][0] == '"' {
			b.Text = inner[0].Text
		} else {
			b.Blocks = inner
		}
	}
	return b
}

// rendered is what the client showed the model for an attachment.
func rendered(raw json.RawMessage) string {
	var items []fields
	if json.Unmarshal(raw, &items) != nil {
		return ""
	}
	var parts []string
	for _, it := range items {
		for _, b := range blocks(it["content"]) {
			if b.Text != "" {
				parts = append(parts, b.Text)
			}
		}
	}
	return strings.Join(parts, "\n")
}
