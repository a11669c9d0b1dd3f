package deliver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// APIMessage is a message as the Anthropic Messages API takes it.
type APIMessage struct {
	Role    string     `json:"role"` // user or assistant
	Content []APIBlock `json:"content"`
}

// APIBlock is a content block of one. Which fields are set follows from Type.
type APIBlock struct {
	Type string `json:"type"` // text, thinking, redacted_thinking, tool_use, tool_result, image, document
	Text string `json:"text,omitempty"`

	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"` // of redacted_thinking

	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string     `json:"tool_use_id,omitempty"`
	Content   []APIBlock `json:"content,omitempty"`
	IsError   bool       `json:"is_error,omitempty"`

	Source *APISource `json:"source,omitempty"`
}

// APISource is the content of an image or a document.
type APISource struct {
	Type      string `json:"type"` // base64
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// apiImage gives an image, or a document in PDF, as the API takes it; nil where it
// would not.
func apiImage(b *transcript.Block) *APIBlock {
	var raw struct{ Source APISource }
	if json.Unmarshal(b.Raw, &raw) != nil || raw.Source.Type != "base64" || raw.Source.Data == "" {
		return nil
	}
	switch raw.Source.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if b.Type != "image" {
			return nil
		}
	case "application/pdf":
		if b.Type != "document" {
			return nil
		}
	default:
		return nil
	}
	if _, err := base64.StdEncoding.DecodeString(raw.Source.Data); err != nil {
		return nil
	}
	return &APIBlock{Type: b.Type, Source: &raw.Source}
}

// assembler makes messages of pieces.
type assembler struct {
	out  []APIMessage
	used map[string]bool // ids of calls
	left *LeftOut
}

func newAssembler(left *LeftOut) *assembler {
	return &assembler{used: map[string]bool{}, left: left}
}

// add puts a block at the end, into the last message where the role is the same.
func (a *assembler) add(role string, b APIBlock) {
	if n := len(a.out); n > 0 && a.out[n-1].Role == role {
		a.out[n-1].Content = append(a.out[n-1].Content, b)
		return
	}
	a.out = append(a.out, APIMessage{Role: role, Content: []APIBlock{b}})
}

func (a *assembler) text(role, s string) {
	if strings.TrimFunc(s, unicode.IsSpace) != "" {
		a.add(role, APIBlock{Type: "text", Text: s})
	}
}

// unit adds a unit: what is before its answer, the answer, the results of its
// calls, and what came beside them.
func (a *assembler) unit(pieces []piece) {
	var calls []*APIBlock
	ids := map[string][]*APIBlock{} // the calls that wait for a result, by their id in the transcript
	results := map[*APIBlock]*APIBlock{}
	var answer, beside []APIBlock
	answered := false
	for i := range pieces {
		p := &pieces[i]
		switch p.kind {
		case saidModel:
			answered = true
			answer = append(answer, APIBlock{Type: "text", Text: p.text})
		case thinking:
			answered = true
			answer = append(answer, *p.block)
		case call:
			answered = true
			name := toolName(p.name)
			b := &APIBlock{Type: "tool_use", ID: a.id(p), Name: name, Input: p.input}
			calls = append(calls, b)
			ids[p.id] = append(ids[p.id], b)
			answer = append(answer, *b)
		case result:
			if waiting := ids[p.id]; len(waiting) > 0 {
				b := waiting[0]
				ids[p.id] = waiting[1:]
				results[b] = &APIBlock{Type: "tool_result", ToolUseID: b.ID, Content: resultContent(p), IsError: p.error}
				continue
			}
			a.left.Unpaired++
			a.left.place(Place{Line: p.line, What: "result without its call"})
			beside = append(beside, APIBlock{Type: "text", Text: "[A result whose call is not here:]"})
			beside = append(beside, resultContent(p)...)
		default:
			b := userBlock(p)
			if b == nil {
				continue
			}
			if answered {
				beside = append(beside, *b)
				continue
			}
			a.add("user", *b)
		}
	}
	for _, b := range answer {
		a.addNonEmpty("assistant", b)
	}
	for _, b := range calls {
		r := results[b]
		if r == nil {
			a.left.Unpaired++
			r = &APIBlock{
				Type: "tool_result", ToolUseID: b.ID, IsError: true,
				Content: []APIBlock{{Type: "text", Text: "[The transcript has no result of this call.]"}},
			}
		}
		a.add("user", *r)
	}
	for _, b := range beside {
		a.addNonEmpty("user", b)
	}
}

func (a *assembler) addNonEmpty(role string, b APIBlock) {
	if b.Type == "text" {
		a.text(role, b.Text)
		return
	}
	a.add(role, b)
}

// userBlock is what a piece says in the role of the user; nil for nothing.
func userBlock(p *piece) *APIBlock {
	if p.block != nil {
		return p.block
	}
	s := p.text
	switch p.kind {
	case attachment:
		s = "[The client attached " + shown.Code(p.name, 60) + ":]\n" + s
	case notice:
		s = "[A notice of the client, " + shown.Code(p.name, 60) + ":]\n" + s
	case boundary:
		return nil
	case unread:
		s = "[The record of line " + shown.Number(p.line) + " cannot be read.]"
	}
	if strings.TrimFunc(s, unicode.IsSpace) == "" {
		return nil
	}
	return &APIBlock{Type: "text", Text: s}
}

func resultContent(p *piece) []APIBlock {
	var out []APIBlock
	if strings.TrimSpace(p.text) != "" {
		out = append(out, APIBlock{Type: "text", Text: p.text})
	}
	for i := range p.parts {
		q := &p.parts[i]
		switch {
		case q.block != nil:
			out = append(out, *q.block)
		case strings.TrimFunc(q.text, unicode.IsSpace) != "":
			out = append(out, APIBlock{Type: "text", Text: q.text})
		}
	}
	return out
}

// id gives a call an id that the API takes and that no other call has.
func (a *assembler) id(p *piece) string {
	id := p.id
	if !plainName(id, 100) || a.used[id] || p.secret {
		id = fmt.Sprintf("toolu_line_%d", p.line)
		for n := 2; a.used[id]; n++ {
			id = fmt.Sprintf("toolu_line_%d_%d", p.line, n)
		}
	}
	a.used[id] = true
	return id
}

// toolName gives a name that the API takes: up to 128 letters, digits, _ and -.
func toolName(s string) string {
	if plainName(s, 128) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if plainName(string(r), 1) {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "unknown"
	}
	return s[:min(len(s), 128)]
}

func plainName(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// finish makes the messages fit the rules that concern more than one unit.
func (a *assembler) finish() []APIMessage {
	out := a.out[:0]
	for _, m := range a.out {
		if m.Role == "assistant" {
			for n := len(m.Content); n > 0 && strings.HasSuffix(m.Content[n-1].Type, "thinking"); n-- {
				m.Content = m.Content[:n-1] // an answer may not end with it
				a.left.Thinking++
			}
		}
		switch n := len(out); {
		case len(m.Content) == 0:
		case n > 0 && out[n-1].Role == m.Role:
			out[n-1].Content = append(out[n-1].Content, m.Content...)
		default:
			out = append(out, m)
		}
	}
	if len(out) > 0 && out[0].Role == "assistant" {
		first := APIMessage{Role: "user", Content: []APIBlock{{Type: "text", Text: "[What came before is not here.]"}}}
		out = append([]APIMessage{first}, out...)
	}
	if n := len(out); n > 0 && out[n-1].Role == "assistant" {
		last := &out[n-1].Content[len(out[n-1].Content)-1]
		last.Text = strings.TrimRightFunc(last.Text, unicode.IsSpace)
	}
	if out == nil {
		out = []APIMessage{}
	}
	return out
}
