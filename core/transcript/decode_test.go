package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mem/core/transcript/transcripttest"
)

// What follows decodes records with encoding/json alone, to compare with.

type plainFields map[string]json.RawMessage

func (f plainFields) str(key string) string {
	var s string
	if json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

func (f plainFields) object(key string) plainFields {
	var o plainFields
	if json.Unmarshal(f[key], &o) != nil {
		return nil
	}
	return o
}

func plainDecode(raw []byte) (Message, error) {
	var f plainFields
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
		m.Content = []Block{{Type: "attachment", Name: m.Subtype, Text: plainRendered(f["rendered"]), Raw: f["attachment"]}}
	case f["message"] != nil:
		api := f.object("message")
		m.Role, m.ID, m.Model = api.str("role"), api.str("id"), api.str("model")
		m.Content = plainBlocks(api["content"])
	default:
		m.Role = "system"
		m.Content = plainBlocks(f["content"])
	}
	if m.Role == "" {
		m.Role = m.Type
	}
	return m, nil
}

// plainBlocks decodes content: a string, or an array of blocks.
func plainBlocks(raw json.RawMessage) []Block {
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
		out = append(out, plainBlock(it))
	}
	return out
}

func plainBlock(raw json.RawMessage) Block {
	if len(raw) > 0 && raw[0] == '"' {
		return plainBlocks(raw)[0]
	}
	var f plainFields
	_ = json.Unmarshal(raw, &f) // no object: a block that only has Raw
	b := Block{Type: f.str("type"), Text: f.str("text"), Name: f.str("name"), ID: f.str("id"), Input: f["input"], Raw: raw}
	switch b.Type {
	case "thinking":
		b.Text = f.str("thinking")
	case "tool_result":
		b.ID = f.str("tool_use_id")
		_ = json.Unmarshal(f["is_error"], &b.IsError)
		inner := plainBlocks(f["content"])
		if len(inner) == 1 && len(f["content"]) > 0 && f["content"][0] == '"' {
			b.Text = inner[0].Text
		} else {
			b.Blocks = inner
		}
	}
	return b
}

// plainRendered is what the client showed the model for an attachment.
func plainRendered(raw json.RawMessage) string {
	var items []plainFields
	if json.Unmarshal(raw, &items) != nil {
		return ""
	}
	var parts []string
	for _, it := range items {
		for _, b := range plainBlocks(it["content"]) {
			if b.Text != "" {
				parts = append(parts, b.Text)
			}
		}
	}
	return strings.Join(parts, "\n")
}

// sameMessage compares what decode gives with what encoding/json does. Nothing and an empty
// list are the same.
func sameMessage(t testing.TB, raw []byte) {
	t.Helper()
	got, err := newDecoder().decode(raw)
	want, wantErr := plainDecode(raw)
	var tidy func(list []Block) []Block
	tidy = func(list []Block) []Block {
		for i := range list {
			list[i].Blocks = tidy(list[i].Blocks)
		}
		if len(list) == 0 {
			return nil
		}
		return list
	}
	got.Content, want.Content = tidy(got.Content), tidy(want.Content)
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%.2000q\n got %+v, %v\nwant %+v, %v", raw, got, err, want, wantErr)
	}
}

// odd are records and pieces of records that are seldom or never written.
var odd = []string{
	`null`, `[]`, `{}`, ` {"type":"user"} `, `{"type":"user"`, `{"type":"user"} x`, `{"type":null,"uuid":7,"message":null}`,
	`{"type":"user","type":"assistant","message":{"content":"a"},"message":{"content":"b","role":"user"}}`,
	`{"\u0074ype":"user","uuid":"\ud83d\ude00\ud83d","cwd":"C:\\x\ty"}`, "{\"type\":\"a\xff\",\"cwd\":\"\xed\xa0\x80\"}",
	`{"type":"user","message":{"content":[]}}`, `{"type":"user","message":{"content":[1,null,"s",{"type":"text","text":5},[{}]]}}`,
	`{"type":"user","message":{"content": [ {"type":"tool_result","tool_use_id":"t","is_error":"true","content":"x"} , {"type":"tool_result","is_error":true,"content":["y",{"type":"text","text":"z"}]}, {"type":"tool_result","content":null}, {"type":"tool_result"} ]}}`,
	`{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"thinking","thinking":"t","text":"no"},{"type":"tool_use","id":"1","name":"Bash","input":{"a":[1,2,{"b":null}]}}]}}`,
	`{"type":"attachment","attachment":null,"rendered":[{"content":"a"},null,{"content":[{"type":"text","text":"b"}]}],"renderedRole":"user"}`,
	`{"type":"attachment","attachment":{"type":"x"},"rendered":[{"content":"a"},3]}`, `{"type":"attachment","attachment":"s","rendered":{}}`,
	`{"type":"system","subtype":"s","content":"text","timestamp":"2026-11-30T10:00:00.123Z"}`, `{"type":"system","content":{"a":1}}`, `{"type":"system","content":17}`,
	`{"type":"user","message":"no object"}`, `{"type":"user","message":{"content":[` + "\n" + `{"type":"image","source":{"type":"base64"}}]}}`,
	`{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, `{"a":` + strings.Repeat("[", 11000) + strings.Repeat("]", 11000) + `}`,
}

// TestDecode compares with encoding/json what odd records, the samples and generated transcripts hold.
func TestDecode(t *testing.T) {
	for _, s := range odd {
		sameMessage(t, []byte(s))
	}
	var made strings.Builder
	if _, err := transcripttest.Write(&made, transcripttest.Options{Seed: 9, Bytes: 2e6, CompactEvery: 5e5}); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"generated": made.String()}
	list, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	for _, data := range files {
		for line := range strings.Lines(data) {
			sameMessage(t, []byte(strings.TrimSuffix(line, "\n")))
		}
	}
}

// FuzzDecode compares with encoding/json what any bytes give.
func FuzzDecode(f *testing.F) {
	for _, s := range odd {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { sameMessage(t, raw) })
}
