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
	return NewLoader(src, t).Load(ctx, rows)
}

// Loader decodes rows in several goes. Rows that follow each other in the file, whether in one go or
// in the next, are read together. It is not safe for concurrent use.
type Loader struct {
	src     io.ReaderAt
	t       *Transcript
	decoder *decoder
	window  []byte // of the file, from base on
	base    int64
	next    int64 // where the row before ended
}

const (
	// aheadBytes is how much is read at once where rows follow each other.
	aheadBytes = 64 << 10
	// aheadRow is the longest row that is worth it, in bytes.
	aheadRow = 16 << 10
)

// NewLoader returns a Loader of rows of t, which stand in src.
func NewLoader(src io.ReaderAt, t *Transcript) *Loader {
	return &Loader{src: src, t: t, decoder: newDecoder(), next: -1}
}

// Load is the function Load.
func (l *Loader) Load(ctx context.Context, rows []int) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, i := range rows {
			if err := ctx.Err(); err != nil {
				yield(Message{}, err)
				return
			}
			if i < 0 || i >= l.t.Rows.Len() {
				if !yield(Message{Row: i}, fmt.Errorf("row %d is not in the transcript", i)) {
					return
				}
				continue
			}
			m, err := l.row(l.t.Rows.At(i))
			m.Row, m.Line = i, int(l.t.Rows.At(i).Line)
			if !yield(m, err) {
				return
			}
		}
	}
}

func (l *Loader) row(r *Row) (Message, error) {
	// The message keeps parts of the buffer, so each gets its own.
	raw := make([]byte, r.Len)
	if err := l.read(raw, r.Offset); err != nil {
		return Message{}, fmt.Errorf("reading the record of line %d: %w", r.Line, err)
	}
	m, err := l.decoder.decode(raw)
	if err != nil {
		return Message{}, fmt.Errorf("reading the record of line %d: %w", r.Line, err)
	}
	if r.Kind != Collapse && ParseUUID(m.UUID) != r.UUID {
		return Message{}, fmt.Errorf("reading the record of line %d: %w", r.Line, ErrChanged)
	}
	m.Flags = r.Flags
	return m, nil
}

// read fills raw from the file.
func (l *Loader) read(raw []byte, at int64) error {
	follows := l.next >= 0 && at >= l.next && at < l.next+aheadBytes
	l.next = at + int64(len(raw))
	if l.copied(raw, at) {
		return nil
	}
	if follows && len(raw) <= aheadRow {
		if l.window == nil {
			l.window = make([]byte, aheadBytes)
		}
		n, _ := l.src.ReadAt(l.window[:aheadBytes], at) // what is wrong shows below
		l.window, l.base = l.window[:n], at
		if l.copied(raw, at) {
			return nil
		}
	}
	n, err := l.src.ReadAt(raw, at)
	if n == len(raw) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = ErrChanged
	}
	return err
}

// copied fills raw from the window if that holds it.
func (l *Loader) copied(raw []byte, at int64) bool {
	if at < l.base || at+int64(len(raw)) > l.base+int64(len(l.window)) {
		return false
	}
	copy(raw, l.window[at-l.base:])
	return true
}
