package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"mem/core/guard"
	"mem/core/transcript"
	"pgregory.net/rapid"
)

// secrets are planted wherever a string stands.
var secrets = []string{"ghp_" + "wJ4rT9xKq2Lm8Vb5Nc7Zd1Fg3Hs6Pa0YuEiQ", "AKIA" + "Z7QX4MNB2KJ5VTRW", "xoxb-" + "731860452917-8206415937264-hT5vKq8RzLm2Wc9XbNd4Yf6G"}

// words draws a text: none, blank, short, long, strange, or with a secret.
func words(t *rapid.T, label string) string {
	switch rapid.IntRange(0, 11).Draw(t, label) {
	case 0:
		return ""
	case 1:
		return " \n\t"
	case 2:
		return strings.Repeat("a long text that goes on. ", rapid.IntRange(1, 900).Draw(t, "long"))
	case 3:
		return strings.Repeat("記憶と", rapid.IntRange(1, 1500).Draw(t, "long"))
	case 4:
		return strings.Repeat("<&>\"\x01", rapid.IntRange(1, 500).Draw(t, "long"))
	case 5:
		pad := rapid.IntRange(0, 12_000).Draw(t, "before")
		return strings.Repeat("x ", pad) + rapid.SampledFrom(secrets).Draw(t, "secret") + strings.Repeat(" y", pad/2)
	case 6:
		return "```\n# Ignore this\n````` " + rapid.String().Draw(t, "text") + " \n"
	default:
		return "some words " + fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "n"))
	}
}

func drawBlock(t *rapid.T, depth int) any {
	id := rapid.SampledFrom([]string{"t1", "t2", "t3", "t4", "", "bad id", secrets[0]}).Draw(t, "id")
	switch rapid.IntRange(0, 10).Draw(t, "block") {
	case 0, 1:
		return map[string]any{"type": "text", "text": words(t, "text")}
	case 2:
		sig := rapid.SampledFrom([]string{"", "c2lnbmVk"}).Draw(t, "signature")
		return map[string]any{"type": "thinking", "thinking": words(t, "thinking"), "signature": sig}
	case 3:
		return map[string]any{"type": "redacted_thinking", "data": "AAAA"}
	case 4, 5:
		var input any = map[string]any{"command": words(t, "input"), words(t, "key"): []any{1.5, nil, words(t, "input")}}
		if rapid.IntRange(0, 5).Draw(t, "odd input") == 0 {
			input = rapid.SampledFrom([]any{nil, "text", 7, []any{}}).Draw(t, "input")
		}
		return map[string]any{"type": "tool_use", "id": id, "name": rapid.SampledFrom([]string{"Bash", "mcp__a__b", "", "名 前"}).Draw(t, "name"), "input": input}
	case 6, 7:
		var content any = words(t, "result")
		if depth == 0 && rapid.Bool().Draw(t, "of blocks") {
			var list []any
			for range rapid.IntRange(0, 12).Draw(t, "parts") {
				list = append(list, drawBlock(t, 1))
			}
			content = list
		}
		return map[string]any{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": rapid.Bool().Draw(t, "error")}
	case 8:
		return map[string]any{"type": "image", "source": map[string]any{
			"type":       rapid.SampledFrom([]string{"base64", "url"}).Draw(t, "source"),
			"media_type": rapid.SampledFrom([]string{"image/png", "image/tiff"}).Draw(t, "media"), "data": "aGVsbG8="}}
	case 9:
		return map[string]any{"type": "server_tool_use", "id": id, "name": "web_search", "input": map[string]any{"q": words(t, "query")}}
	default:
		return rapid.SampledFrom([]any{"a string", 5, map[string]any{"type": "newer"}, nil}).Draw(t, "odd")
	}
}

// drawTranscript draws a conversation: mostly in line, with rows of all kinds, in
// no order that must make sense.
func drawTranscript(t *rapid.T) []byte {
	var b bytes.Buffer
	last := ""
	for i := range rapid.IntRange(0, 40).Draw(t, "rows") {
		uuid := fmt.Sprintf("r%d", i)
		row := map[string]any{"uuid": uuid, "sessionId": "s1", "timestamp": "2026-05-04T08:01:00.000Z", "cwd": "/srv/work", "isSidechain": false}
		row["parentUuid"] = last
		if last == "" {
			row["parentUuid"] = nil
		}
		if rapid.IntRange(0, 15).Draw(t, "elsewhere") == 0 {
			row["parentUuid"] = fmt.Sprintf("r%d", rapid.IntRange(0, 40).Draw(t, "parent"))
		}
		var content any = words(t, "content")
		if rapid.IntRange(0, 3).Draw(t, "blocks") > 0 {
			list := []any{}
			for range rapid.IntRange(0, 4).Draw(t, "count") {
				list = append(list, drawBlock(t, 0))
			}
			content = list
		}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1, 2:
			row["type"], row["message"] = "user", map[string]any{"role": "user", "content": content}
			switch rapid.IntRange(0, 12).Draw(t, "flag") {
			case 0:
				row["isMeta"] = true
			case 1:
				row["isCompactSummary"] = true
			}
		case 3, 4, 5, 6:
			m := map[string]any{"role": "assistant", "content": content}
			if n := rapid.IntRange(0, 4).Draw(t, "message"); n > 0 {
				m["id"] = fmt.Sprintf("m%d", (i+n)/4)
			}
			row["type"], row["message"] = "assistant", m
			if rapid.IntRange(0, 15).Draw(t, "failure") == 0 {
				row["isApiErrorMessage"] = true
			}
		case 7:
			row["type"], row["subtype"], row["content"] = "system", "turn", words(t, "notice")
		case 8:
			row["type"], row["attachment"] = "attachment", map[string]any{"type": "file"}
			row["rendered"] = []any{map[string]any{"content": words(t, "attachment")}}
		case 9:
			if rapid.IntRange(0, 3).Draw(t, "compact") == 0 {
				row["type"], row["subtype"], row["parentUuid"], row["logicalParentUuid"] = "system", "compact_boundary", nil, last
			} else {
				row["type"], row["data"] = "progress", 1
			}
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
		if rapid.IntRange(0, 30).Draw(t, "garbage") == 0 {
			b.WriteString("{\"type\":\"us\n")
		}
		last = uuid
	}
	return b.Bytes()
}

func scanner(t interface{ Fatal(...any) }) *guard.Scanner {
	g, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func read(t interface{ Fatal(...any) }, data []byte) (*transcript.Transcript, *transcript.Chain) {
	tr, err := transcript.Read(context.Background(), bytes.NewReader(data), int64(len(data)), transcript.Options{})
	if tr == nil {
		t.Fatal(err)
	}
	return tr, tr.Chain(transcript.UUID{})
}

// TestWhateverTheTranscript holds the laws of a delivery: messages are what the
// API takes, the budget is kept, the pages hold the chain once, no secret shows.
func TestWhateverTheTranscript(t *testing.T) {
	g := scanner(t)
	rapid.Check(t, func(t *rapid.T) {
		data := drawTranscript(t)
		tr, c := read(t, data)
		o := Options{
			BudgetTokens: rapid.IntRange(MinBudget, 12000).Draw(t, "budget"), Format: rapid.SampledFrom([]Format{Messages, Brief}).Draw(t, "format"),
			Thinking: rapid.Bool().Draw(t, "thinking"), ToolResults: rapid.Bool().Draw(t, "results"),
			Attachments: rapid.Bool().Draw(t, "attachments"), Redact: g,
		}
		check(t, data, tr, c, o)
	})
}

func check(t *rapid.T, data []byte, tr *transcript.Transcript, c *transcript.Chain, o Options) {
	src := bytes.NewReader(data)
	seen := map[int]int{}
	for page := 0; ; page++ {
		if page > len(c.Rows)+1 {
			t.Fatal("the pages do not end")
		}
		d, err := Deliver(context.Background(), src, tr, c, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCount(b); n > 4*o.BudgetTokens || d.Tokens > o.BudgetTokens {
			t.Fatalf("%d characters, %d tokens; the budget is %d", n, d.Tokens, o.BudgetTokens)
		}
		if why := invalid(d.Messages); why != "" {
			t.Fatalf("%s\n%s\n%s", why, b, data)
		}
		for _, s := range secrets {
			if bytes.Contains(b, []byte(s)) {
				t.Fatalf("%s shows in %s", s, b)
			}
		}
		for _, i := range pageRows(t, src, tr, c, o) {
			seen[i]++
		}
		if d.NextCursor == "" {
			break
		}
		o.Cursor = d.NextCursor
	}
	for p := range c.Rows {
		if seen[p] != 1 {
			t.Fatalf("row %d of %d is on %d pages", p, len(c.Rows), seen[p])
		}
	}
}

// pageRows are the positions on the chain that a page holds.
func pageRows(t *rapid.T, src *bytes.Reader, tr *transcript.Transcript, c *transcript.Chain, o Options) []int {
	j, err := newJob(context.Background(), src, tr, c, o)
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := j.page()
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, list := range [][]rendered{p.pinned, p.taken} {
		for _, r := range list {
			for k := j.units[r.unit].from; k < j.units[r.unit].to; k++ {
				out = append(out, int(k))
			}
		}
	}
	return out
}
