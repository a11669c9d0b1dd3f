package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// mcp-go checks arguments and results through third_party/jsonschema, which takes the place
// of the library that it was written for. We check both ourselves and leave its checks off, but
// they must not let anything through in silence should they be switched on.
func TestChecksOfTheProtocolLibraryHold(t *testing.T) {
	s := server.NewMCPServer("x", "1", server.WithToolCapabilities(false), server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	tool := mcp.NewToolWithRawSchema("t", "", json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"required":["result"],
		"properties":{"result":{},"n":{"type":"integer","minimum":1},"kind":{"enum":["a","b"]},"name":{"type":"string","minLength":2,"pattern":"^x"},
		"list":{"type":"array","maxItems":2,"uniqueItems":true,"items":{"$ref":"#/$defs/item"}},"one":{"oneOf":[{"type":"string"},{"type":"object","minProperties":1}]}},
		"$defs":{"item":{"type":"object","required":["id"],"properties":{"id":{"type":"number"}}}}}`))
	tool.RawOutputSchema = json.RawMessage(`{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}},"additionalProperties":false}`)
	s.AddTool(tool, func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: req.GetArguments()["result"], Content: []mcp.Content{mcp.NewTextContent("ran")}}, nil
	})
	for i, c := range []struct{ args, want string }{
		{`{"result":{"ok":true}}`, "ran"},
		{`{"result":{"ok":true},"n":3,"kind":"b","name":"xy","list":[{"id":1},{"id":1.5}],"one":{"a":1}}`, "ran"},
		{`{}`, "input schema validation failed: <root>: {Missing:[result]}"},
		{`{"result":{"ok":true},"n":0}`, "/n: {Got:0 Want:1}"},
		{`{"result":{"ok":true},"n":1.5}`, "/n: {Got:number Want:[integer]}"},
		{`{"result":{"ok":true},"kind":"c"}`, "/kind: {Got:c Want:[a b]}"},
		{`{"result":{"ok":true},"name":"x"}`, "/name: {Got:1 Want:2}"},
		{`{"result":{"ok":true},"name":"yx"}`, "/name: {Got:yx Want:^x}"},
		{`{"result":{"ok":true},"list":[{"id":1},{"id":"2"}]}`, "/list/1/id: {Got:string Want:[number]}"},
		{`{"result":{"ok":true},"list":[{"id":1},{"id":1}]}`, "uniqueItems"},
		{`{"result":{"ok":true},"list":[{"id":1},{"id":2},{}]}`, "/list: {Got:3 Want:2}; /list/2: {Missing:[id]}"},
		{`{"result":{"ok":true},"one":{}}`, "oneOf"},
		{`{"result":{"ok":true},"more":1}`, "<root>: {Properties:[more]}"},
		{`{"result":{}}`, "output schema validation failed: <root>: {Missing:[ok]}"},
		{`{"result":{"ok":"yes"}}`, "output schema validation failed: /ok: {Got:string Want:[boolean]}"},
	} {
		reply := s.HandleMessage(t.Context(), json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":%s}}`, i+1, c.args)))
		b, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if r := got.Result; len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, c.want) || r.IsError != (c.want != "ran") {
			t.Errorf("%s: %s, want %s", c.args, b, c.want)
		}
	}
}
