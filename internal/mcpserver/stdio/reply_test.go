package stdio

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
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
			r.Meta = &mcp.Meta{AdditionalFields: map[string]any{"m": said}}
			for _, result := range []any{r, &r} {
				if _, _, ok := toolResult(result); !ok {
					t.Fatalf("%T is encoded as any other", result)
				}
				line, err := resultLine(json.RawMessage("1"), result)
				if err != nil {
					t.Fatal(err)
				}
				want, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": r})
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
