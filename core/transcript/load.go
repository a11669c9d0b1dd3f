package transcript

import (
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
