package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"mem/core/rawjson"
)

// What follows takes records apart with the scanner that read the file: encoding/json with a map
// for each object takes ten times as long, which is nearly all of the time of an export.

// fields are the members of an object as they stand in its text. They are taken one by one, so
// that one of an unexpected type costs no more than itself.
type fields []member

type member struct{ key, value []byte }

// decoder takes records apart, one after the other. Its memory for the members of objects is used
// again for the next record.
type decoder struct {
	rawjson.Scanner
	members fields
	line    []byte
	onField func(key []byte, i int) int // field as a value, made once
}

func newDecoder() *decoder {
	d := &decoder{}
	d.onField = d.field
	return d
}

func (d *decoder) field(key []byte, i int) int {
	end := d.Value(d.line, i)
	if end >= 0 {
		d.members = append(d.members, member{key, d.line[i:end:end]})
	}
	return end
}

// fieldsOf takes an object apart; ok is false where raw is none. The members are good until the
// next record.
func (d *decoder) fieldsOf(raw []byte) (f fields, ok bool) {
	i := rawjson.Space(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return nil, false
	}
	from := len(d.members)
	d.line = raw
	end := d.Object(raw, i, 0, d.onField)
	if end < 0 || rawjson.Space(raw, end) != len(raw) {
		return nil, false
	}
	return d.members[from:len(d.members):len(d.members)], true
}

// get gives the value of a key, the last one where there are several; nil without one.
func (f fields) get(key string) json.RawMessage {
	for i := len(f) - 1; i >= 0; i-- {
		if string(f[i].key) == key {
			return f[i].value
		}
	}
	return nil
}

// str is the value of a key that is a string, "" where it is none.
func (f fields) str(key string) string { return rawjson.Text(f.get(key)) }

// elements takes an array apart; ok is false where raw is none.
func (d *decoder) elements(raw []byte) (list []json.RawMessage, ok bool) {
	i := rawjson.Space(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return nil, false
	}
	end := d.Array(raw, i, 0, func(i int) int {
		end := d.Value(raw, i)
		if end >= 0 {
			list = append(list, raw[i:end:end])
		}
		return end
	})
	if end < 0 || rawjson.Space(raw, end) != len(raw) {
		return nil, false
	}
	return list, true
}

// decode takes a record apart. The message keeps parts of raw.
func (d *decoder) decode(raw []byte) (Message, error) {
	clear(d.members) // they point into the record before
	d.members = d.members[:0]
	f, ok := d.fieldsOf(raw)
	if !ok {
		return Message{}, ErrChanged
	}
	m := Message{
		UUID: f.str("uuid"), Parent: f.str("parentUuid"), Type: f.str("type"), Subtype: f.str("subtype"),
		Cwd: f.str("cwd"), Branch: f.str("gitBranch"), Session: f.str("sessionId"), Version: f.str("version"),
		Agent: f.str("agentId"), Raw: raw,
	}
	m.Timestamp, _ = time.Parse(time.RFC3339, f.str("timestamp"))
	attachment, message := f.get("attachment"), f.get("message")
	switch {
	case attachment != nil:
		a, _ := d.fieldsOf(attachment)
		m.Role, m.Subtype = "system", a.str("type")
		if role := f.str("renderedRole"); role != "" {
			m.Role = role
		}
		m.Content = []Block{{Type: "attachment", Name: m.Subtype, Text: d.rendered(f.get("rendered")), Raw: attachment}}
	case message != nil:
		api, _ := d.fieldsOf(message)
		m.Role, m.ID, m.Model = api.str("role"), api.str("id"), api.str("model")
		m.Content = d.blocks(api.get("content"))
	default:
		m.Role = "system"
		m.Content = d.blocks(f.get("content"))
	}
	if m.Role == "" {
		m.Role = m.Type
	}
	return m, nil
}

// blocks decodes content: a string, or an array of blocks.
func (d *decoder) blocks(raw json.RawMessage) []Block {
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '"' {
		return []Block{{Type: "text", Text: rawjson.Text(raw), Raw: raw}}
	}
	items, ok := d.elements(raw)
	if !ok {
		return nil
	}
	out := make([]Block, 0, len(items))
	for _, it := range items {
		out = append(out, d.block(it))
	}
	return out
}

func (d *decoder) block(raw json.RawMessage) Block {
	if raw[0] == '"' {
		return d.blocks(raw)[0]
	}
	f, _ := d.fieldsOf(raw) // no object: a block that only has Raw
	b := Block{Type: f.str("type"), Text: f.str("text"), Name: f.str("name"), ID: f.str("id"), Input: f.get("input"), Raw: raw}
	switch b.Type {
	case "thinking":
		b.Text = f.str("thinking")
	case "tool_result":
		b.ID = f.str("tool_use_id")
		b.IsError = string(f.get("is_error")) == "true"
		content := f.get("content")
		if inner := d.blocks(content); len(content) > 0 && content[0] == '"' {
			b.Text = inner[0].Text
		} else {
			b.Blocks = inner
		}
	}
	return b
}

// rendered is what the client showed the model for an attachment.
func (d *decoder) rendered(raw json.RawMessage) string {
	items, _ := d.elements(raw)
	var parts []string
	for _, it := range items {
		f, ok := d.fieldsOf(it)
		if !ok && string(it) != "null" {
			return ""
		}
		for _, b := range d.blocks(f.get("content")) {
			if b.Text != "" {
				parts = append(parts, b.Text)
			}
		}
	}
	return strings.Join(parts, "\n")
}
