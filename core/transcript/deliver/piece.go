package deliver

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/rawjson"
	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// kind is what a piece of a conversation is.
type kind uint8

const (
	saidUser   kind = iota // by a person or, where meta, by the client in their name
	saidModel              // an answer
	thinking               // of the model
	call                   // of a tool
	result                 // of a tool
	image                  // or a document
	attachment             // added by the client
	notice                 // of the client
	summary                // what a compaction kept
	boundary               // where a compaction was
	failure                // of the API in place of an answer
	unread                 // a row that cannot be read
	tooLarge               // stands for a unit
)

// piece is a part of a message, shortened and without secrets.
type piece struct {
	kind kind
	meta bool
	at   time.Time
	line int
	text string
	size int    // of a result: its characters as they were
	name string // of a tool, an attachment, a notice
	id   string // of a call, on its result too
	// secret says that the id is one, so that it is not shown.
	secret bool
	input  json.RawMessage
	error  bool
	// parts of a result.
	parts []piece
	// block is an image, a document or thinking as the API takes it.
	block *APIBlock
}

// caps are how long the parts of a page may be, as shown.Cost counts.
type caps struct {
	text, result, input int
	images, thinking    bool
}

// reader makes pieces of rows.
type reader struct {
	o    Options
	red  *shown.Redactor
	caps caps
	left LeftOut
}

func (r *reader) cut(line int, what string, gone int) {
	if gone > 0 {
		r.left.Shortened++
		r.left.Characters += gone
		r.left.place(Place{Line: line, What: what + " shortened", Characters: gone})
	}
}

// short redacts and shortens a text.
func (r *reader) short(line int, what, s string, most int) string {
	s, gone := r.red.Shorten(s, most)
	r.cut(line, what, gone)
	return s
}

// message takes a message apart.
func (r *reader) message(m *transcript.Message, k transcript.Kind) []piece {
	base := piece{at: m.Timestamp, line: m.Line}
	switch {
	case k == transcript.Boundary:
		base.kind, base.text = boundary, ""
		return []piece{base}
	case k == transcript.Collapse:
		base.kind = summary
		base.text = r.short(m.Line, "summary", m.Text(), r.caps.text)
		return []piece{base}
	case k == transcript.System:
		text := m.Text()
		if !r.o.Attachments || strings.TrimSpace(text) == "" {
			r.left.Notices++
			return nil
		}
		base.kind, base.name = notice, m.Subtype
		base.text = r.short(m.Line, "notice", text, r.caps.result)
		return []piece{base}
	case k == transcript.Attachment:
		return r.attachment(base, m)
	case m.Flags.Has(transcript.FlagAPIError):
		if r.o.Format == Messages {
			r.left.Failures++
			return nil
		}
		base.kind, base.text = failure, r.short(m.Line, "failure", m.Text(), r.caps.result)
		return []piece{base}
	}
	base.meta = k == transcript.User && m.Flags.Has(transcript.FlagMeta)
	var out []piece
	for i := range m.Content {
		if p, ok := r.block(base, m, k == transcript.Assistant, &m.Content[i]); ok {
			out = append(out, p)
		}
	}
	return out
}

func (r *reader) attachment(p piece, m *transcript.Message) []piece {
	text := ""
	for _, b := range m.Content {
		if b.Text != "" {
			text = b.Text
		} else if b.Raw != nil && m.Subtype == "" {
			text = string(b.Raw)
		}
	}
	if !r.o.Attachments || strings.TrimSpace(text) == "" {
		r.left.Attachments++
		return nil
	}
	p.kind, p.name = attachment, r.red.Text(m.Subtype)
	p.text = r.short(m.Line, "attachment", text, r.caps.result)
	return []piece{p}
}

// block makes a piece of a content block. What the API would not take where it
// stands becomes text.
func (r *reader) block(p piece, m *transcript.Message, model bool, b *transcript.Block) (piece, bool) {
	said := saidUser
	if model {
		said = saidModel
	}
	switch {
	case b.Type == "text":
		if strings.TrimSpace(b.Text) == "" {
			return p, false
		}
		p.kind = said
		what := "text"
		if m.Flags.Has(transcript.FlagCompactSummary) {
			p.kind, what = summary, "summary"
		}
		p.text = r.short(m.Line, what, b.Text, r.caps.text)
		return p, true
	case (b.Type == "thinking" || b.Type == "redacted_thinking") && model:
		return r.thinking(p, b)
	case b.Type == "tool_use" && model:
		return r.call(p, b), true
	case b.Type == "tool_result" && !model:
		return r.result(p, b), true
	case b.Type == "image" || b.Type == "document":
		p.kind = image
		if !model && r.caps.images && r.o.Format == Messages {
			if p.block = apiImage(b); p.block != nil {
				p.name = b.Type
				return p, true
			}
		}
		r.left.Images++
		p.kind, p.text = said, "["+r.describe(b)+" is left out]"
		return p, true
	}
	// Blocks of tools that the API itself runs, and what is not known yet.
	p.kind = said
	raw, gone := r.red.JSON(b.Raw, min(r.caps.input, 2000))
	r.cut(m.Line, "block", gone)
	text := string(raw)
	if shown.Cost(text) > r.caps.result {
		text = r.short(m.Line, "block", text, r.caps.result)
	}
	p.text = "[a block of the type " + shown.Code(r.red.Text(b.Type), 60) + ": " + text + "]"
	return p, true
}

func (r *reader) thinking(p piece, b *transcript.Block) (piece, bool) {
	p.kind = thinking
	var raw struct{ Signature, Data string }
	_ = json.Unmarshal(b.Raw, &raw)
	a := &APIBlock{Type: b.Type}
	ok := r.o.Thinking && r.caps.thinking
	if b.Type == "thinking" {
		a.Thinking, a.Signature = b.Text, raw.Signature
		p.text = b.Text
		// A signature is good for the text as it was.
		ok = ok && (r.o.Format == Brief && p.text != "" || raw.Signature != "") && utf8.ValidString(b.Text)
	} else {
		a.Data = raw.Data
		ok = ok && raw.Data != "" && r.o.Format == Messages
	}
	if ok && len(b.Text) > r.caps.text {
		ok = shown.Cost(b.Text) <= r.caps.text
	}
	if ok {
		ok = r.red.Text(b.Text) == b.Text
	}
	if !ok {
		r.left.Thinking++
		return p, false
	}
	p.block = a
	return p, true
}

func (r *reader) call(p piece, b *transcript.Block) piece {
	p.kind, p.id = call, b.ID
	p.secret = r.red.Text(b.ID) != b.ID
	p.name = r.red.Text(b.Name)
	p.input = b.Input
	if len(p.input) == 0 || p.input[0] != '{' {
		p.input = json.RawMessage(`{}`)
		if len(b.Input) > 0 && string(b.Input) != "null" {
			p.input = json.RawMessage(`{"value":` + string(b.Input) + `}`)
		}
	}
	in, gone := r.red.JSON(p.input, r.caps.input)
	if tooDeep(in) || shown.Cost(string(in)) > 3*r.caps.input {
		gone = utf8.RuneCount(p.input)
		in = json.RawMessage(`{"left_out":"arguments of ` + shown.Count(gone, "character", "characters") + `"}`)
	}
	r.cut(p.line, "arguments", gone)
	p.input = in
	return p
}

// maxDepth is how deep arguments may be nested, as far below the limit of
// encoding/json as it is above what tools take.
const maxDepth = 500

func tooDeep(raw []byte) bool {
	for i, depth := 0, 0; i >= 0 && i < len(raw); {
		switch raw[i] {
		case '"':
			i = rawjson.String(raw, i)
			continue
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
		i++
	}
	return false
}

func (r *reader) result(p piece, b *transcript.Block) piece {
	p.kind, p.id, p.error = result, b.ID, b.IsError
	parts := b.Blocks
	if len(parts) == 0 && b.Text != "" {
		parts = []transcript.Block{{Type: "text", Text: b.Text}}
	}
	for i := range parts {
		p.size += utf8.RuneCountInString(parts[i].Text)
	}
	if !r.o.ToolResults {
		r.left.Results++
		p.text = "[The result, " + shown.Count(p.size, "character", "characters") + ", is left out.]"
		return p
	}
	each := r.caps.result
	if len(parts) > 1 {
		each = max(100, r.caps.result/min(len(parts), 8))
	}
	for i := range parts {
		q := &parts[i]
		if i >= 8 && r.caps.result < 50*len(parts) {
			p.parts = append(p.parts, piece{text: "[" + shown.Count(len(parts)-i, "more part is", "more parts are") + " left out]"})
			r.cut(p.line, "result", 1)
			break
		}
		switch {
		case q.Type == "text":
			if strings.TrimSpace(q.Text) != "" {
				p.parts = append(p.parts, piece{text: r.short(p.line, "result", q.Text, each)})
			}
		case q.Type == "image" && r.caps.images && r.o.Format == Messages && apiImage(q) != nil:
			p.parts = append(p.parts, piece{block: apiImage(q)})
		default:
			if q.Type == "image" || q.Type == "document" {
				r.left.Images++
			}
			p.parts = append(p.parts, piece{text: "[" + r.describe(q) + " is left out]"})
		}
	}
	return p
}

// describe says what a block is, without its content.
func (r *reader) describe(b *transcript.Block) string {
	var raw struct {
		Source struct {
			MediaType string `json:"media_type"`
		}
	}
	_ = json.Unmarshal(b.Raw, &raw)
	typ := b.Type
	if typ == "" {
		typ = "block"
	}
	s := shown.Line(typ, 40)
	if raw.Source.MediaType != "" {
		s += " (" + shown.Line(raw.Source.MediaType, 40) + ")"
	}
	return r.red.Text(s) + " of " + shown.Count(len(b.Raw), "byte", "bytes")
}
