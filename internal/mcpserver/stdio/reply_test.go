package stdio

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"pgregory.net/rapid"
)

// TestToolResultsAreEncodedAlike: what is put together says the same as what mcp-go
// would have encoded, whatever stands in it.
func TestToolResultsAreEncodedAlike(t *testing.T) {
	texts := []string{"", "plain", `"structuredContent":"@"`, `\"structuredContent":"@"`, "<a>&\u2028 \x00"}
	for _, words := range texts {
		for _, said := range texts {
			own, err := json.Marshal(map[string]any{"text": said, "structuredContent": "@"})
			if err != nil {
				t.Fatal(err)
			}
			r := mcp.CallToolResult{StructuredContent: json.RawMessage(own), Content: []mcp.Content{mcp.NewTextContent(words)}, IsError: words == ""}
			marked, twice, more := r, r, r
			marked.Meta = &mcp.Meta{AdditionalFields: map[string]any{"m": said}}
			twice.Content = append(twice.Content, mcp.NewTextContent(said), mcp.NewImageContent("QQ==", "image/png"))
			more.ResultType, more.RequestState = mcp.ResultTypeInputRequired, said
			for _, result := range []any{r, &r, marked, &marked, twice, &twice, more, &more} {
				if _, _, ok := toolResult(result); !ok {
					t.Fatalf("%T is encoded as any other", result)
				}
				line, err := resultLine(json.RawMessage("1"), result)
				if err != nil {
					t.Fatal(err)
				}
				want, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": result})
				if err != nil {
					t.Fatal(err)
				}
				var a, b any
				if json.Unmarshal(line, &a) != nil || json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
					t.Errorf("got %s\nwant %s", line, want)
				}
			}
		}
	}
}

// TestQuotedAsEncodingJSON: a string is decoded to what encoding/json would have made of it, and stays on its line.
func TestQuotedAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a\"\\\n\r\t\x00\x1f\x7f\u2028\u2029ü中😀<>&"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "string")
		got := appendQuoted(nil, s)
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		if json.Unmarshal(got, &a) != nil || json.Unmarshal(want, &b) != nil || a != b || !utf8.Valid(got) || bytes.ContainsAny(got, "\n\r\u2028\u2029") {
			t.Fatalf("%q\n got %s\nwant %s", s, got, want)
		}
	})
}
