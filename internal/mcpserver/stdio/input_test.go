package stdio

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestBadInput(t *testing.T) {
	const longest = 1000
	long := strings.Repeat("x", longest)
	for _, tc := range []struct {
		name, line string
		id         string
		code       int
	}{
		{"no JSON", `hello`, "null", mcp.PARSE_ERROR},
		{"cut off", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{`, "5", mcp.PARSE_ERROR},
		{"cut off in a string", `{"jsonrpc":"2.0","id":5,"method":"tools/ca`, "5", mcp.PARSE_ERROR},
		{"two on a line", ping("1") + ping("2"), "1", mcp.PARSE_ERROR},
		{"bad value inside", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":nope}}`, "5", mcp.PARSE_ERROR},
		{"bad value inside ping", `{"jsonrpc":"2.0","id":5,"method":"ping","params":nope}`, "5", mcp.PARSE_ERROR},
		{"bad notification", `{"jsonrpc":"2.0","method":"notifications/x","params":nope}`, "null", mcp.PARSE_ERROR},
		{"NUL byte", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"a\x00b\"}}", "5", mcp.PARSE_ERROR},
		{"NUL byte outside", "\x00" + ping("1"), "null", mcp.PARSE_ERROR},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}", "5", mcp.PARSE_ERROR},
		{"id not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "null", mcp.PARSE_ERROR},
		{"deeply nested", `{"jsonrpc":"2.0","id":5,"method":"ping","params":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}`, "5", mcp.INVALID_REQUEST},
		{"a batch", `[` + ping("1") + `,` + ping("2") + `]`, "null", mcp.INVALID_REQUEST},
		{"a string", `"hello"`, "null", mcp.INVALID_REQUEST},
		{"a number", `5`, "null", mcp.INVALID_REQUEST},
		{"empty object", `{}`, "null", mcp.INVALID_REQUEST},
		{"id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "1", mcp.INVALID_REQUEST},
		{"capitals", `{"jsonrpc":"2.0","ID":1,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, "1", mcp.INVALID_REQUEST},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", mcp.INVALID_REQUEST},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "1", mcp.INVALID_REQUEST},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", mcp.INVALID_REQUEST},
		{"no version", `{"id":1,"method":"tools/list"}`, "1", mcp.INVALID_REQUEST},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nope"}`, "1", mcp.METHOD_NOT_FOUND},
		{"params of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, "1", mcp.INVALID_REQUEST},
		{"unknown tool", toolCall("1", "nope"), "1", mcp.INVALID_PARAMS},
		{"too long, id first", `{"jsonrpc":"2.0","id":"a\"b","method":"tools/call","params":{"name":"` + long + `"}}`, `"a\"b"`, mcp.INVALID_REQUEST},
		{"too long, id last", `{"method":"tools/call","params":{"id":3,"name":"` + long + `","x":[{"id":4}]},"jsonrpc":"2.0","id": 7 }`, "7", mcp.INVALID_REQUEST},
		{"too long, over the buffer", `{"method":"x","params":"` + strings.Repeat("x", 3*readBuffer) + `","id":7}`, "7", mcp.INVALID_REQUEST},
		{"too long, no id", `{"method":"x","params":"` + long + `"}`, "null", mcp.INVALID_REQUEST},
		{"too long, no JSON", long + long, "null", mcp.INVALID_REQUEST},
		{"too long, bad id", `{"id":{},"method":"x","params":"` + long + `"}`, "null", mcp.INVALID_REQUEST},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := connect(t, newTools().MCPServer, Options{MaxMessage: longest}).listen()
			c.send(tc.line, ping(`"after"`))
			got := map[string]message{}
			for range 2 {
				m := c.next()
				got[string(m.ID)] = m
			}
			if m, ok := got[tc.id]; !ok || m.Error == nil || m.Error.Code != tc.code {
				t.Errorf("got %+v\nwant id %s, code %d", got, tc.id, tc.code)
			}
			if _, ok := got[`"after"`]; !ok {
				t.Error("the message after it was not answered")
			}
		})
	}
}

func TestInputThatIsFine(t *testing.T) {
	for name, input := range map[string]string{
		"blank lines":       "\n\r\n  \n\t\n" + ping("1") + "\n\n",
		"CRLF":              ping("1") + "\r\n",
		"byte order mark":   "\xef\xbb\xbf" + ping("1") + "\n",
		"no end of line":    ping("1"),
		"spaces":            ` { "jsonrpc" : "2.0" , "method" : "ping" , "id" : 1 } ` + "\n",
		"escaped key":       `{"jsonrpc":"2.0","\u0069d":1,"meth\u006fd":"ping"}` + "\n",
		"unknown answer":    `{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{}}` + "\n" + ping("1"),
		"unknown note":      `{"jsonrpc":"2.0","method":"notifications/nope"}` + "\n" + ping("1"),
		"as long as it may": ping("1") + strings.Repeat(" ", 1000-len(ping("1"))) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := Serve(t.Context(), newTools().MCPServer, strings.NewReader(input), &out, Options{MaxMessage: 1000}); err != nil {
				t.Fatal(err)
			}
			if got, want := out.String(), `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestIDComesBackAsItWas(t *testing.T) {
	for _, id := range []string{`0`, `-1`, `9007199254740993`, `1.0`, `1e3`, `""`, `"a\u0062\n"`, `"é"`, `"<&>"`} {
		c := connect(t, newTools().MCPServer, Options{}).listen()
		c.send(toolCall(id, "echo"))
		c.expect(id)
	}
}

func TestUnencodableResultIsAnswered(t *testing.T) {
	ts := newTools()
	ts.add("nan", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: math.NaN()}, nil
	})
	ts.add("bomb", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: bomb{}}, nil
	})
	ts.add("bad note", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("ok"), ts.SendNotificationToClient(ctx, "x", map[string]any{"v": bomb{}, "w": math.Inf(1)})
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	for _, tool := range []string{"nan", "bomb"} {
		c.send(toolCall("1", tool))
		if m := c.expect("1"); m.Error == nil || m.Error.Code != mcp.INTERNAL_ERROR {
			t.Errorf("got %s", m.raw)
		}
	}
	c.send(toolCall("2", "bad note"))
	if m := c.expect("2"); m.Error != nil {
		t.Errorf("got %s", m.raw)
	}
}

type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("bomb") }

func TestPanicIsAnswered(t *testing.T) {
	ts := newTools()
	ts.AddNotificationHandler("notifications/panic", func(context.Context, mcp.JSONRPCNotification) { panic("note") })
	ts.AddResource(mcp.NewResource("x://panic", "p"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		panic("resource")
	})
	ts.add("exit", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		runtime.Goexit()
		return nil, nil
	})
	c := connect(t, ts.MCPServer, Options{Concurrency: 1}).listen().handshake()
	for _, tc := range []struct{ line, text string }{
		{toolCall("1", "panic"), "internal error: panic in tools/call: boom"},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://panic"}}`, "internal error: panic in resources/read: resource"},
		{toolCall("1", "exit"), "internal error: the handler of tools/call ended its goroutine"},
	} {
		c.send(tc.line)
		if m := c.expect("1"); m.Error == nil || m.Error.Code != mcp.INTERNAL_ERROR || m.Error.Message != tc.text {
			t.Errorf("got %s, want %s", m.raw, tc.text)
		}
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/panic"}`)
	if m := c.next(); string(m.ID) != "null" || m.Error == nil {
		t.Errorf("got %s", m.raw)
	}
	c.send(toolCall("2", "echo"))
	c.expect("2")
}

func TestWithCode(t *testing.T) {
	ts := newTools()
	ts.add("coded", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, WithCode(ctx, errTest, mcp.INVALID_PARAMS, map[string]any{"a": 1})
	})
	c := connect(t, ts.MCPServer, Options{}).listen()
	c.send(toolCall("1", "coded"))
	if m := c.expect("1"); m.Error == nil || m.Error.Code != mcp.INVALID_PARAMS || m.Error.Data == nil || m.Error.Message != "test" {
		t.Errorf("got %s", m.raw)
	}
	if WithCode(t.Context(), errTest, 1, nil) != errTest || WithCode(t.Context(), nil, 1, nil) != nil {
		t.Error("WithCode outside a call changes the error")
	}
}

func TestStatelessEra(t *testing.T) {
	ts := newTools()
	ts.add("who", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
		ts.started <- ""
		<-ts.release
		caps, err := json.Marshal(s.GetClientCapabilities())
		return mcp.NewToolResultText(s.GetClientInfo().Name + string(caps)), err
	})
	ts.add("confirm", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if e := server.ElicitationResponse(r.Params.InputResponses, "sure"); e != nil {
			return mcp.NewToolResultText("answer " + string(e.Action)), nil
		}
		schema := map[string]any{"type": "object", "properties": map[string]any{}}
		return server.NewInputRequestBuilder("state").Elicit("sure", mcp.ElicitationParams{Message: "?", RequestedSchema: schema}).ToolResult(), nil
	})
	c := connect(t, ts.MCPServer, Options{}).listen()

	c.send(modern("1", "server/discover", "a", "{}", ""))
	if m := c.expect("1"); !strings.Contains(m.raw, `"supportedVersions":["2026-07-28"`) {
		t.Errorf("got %s", m.raw)
	}
	// Two requests at once keep their own client and capabilities.
	c.send(modern("2", "tools/call", "alice", `{"sampling":{}}`, `,"name":"who"`), modern("3", "tools/call", "bob", `{}`, `,"name":"who"`))
	<-ts.started
	<-ts.started
	close(ts.release)
	for range 2 {
		m := c.next()
		want := map[string]string{"2": `alice{\"sampling\":{}}`, "3": `bob{}`}[string(m.ID)]
		if want == "" || !strings.Contains(m.raw, want) {
			t.Errorf("got %s, want %s", m.raw, want)
		}
	}
	// Progress needs no handshake.
	c.send(modern("4", "tools/call", "a", `{}`, `,"name":"progress"`))
	for range 3 {
		if m := c.next(); m.Method != "notifications/progress" {
			t.Errorf("got %s", m.raw)
		}
	}
	c.expect("4")
	// Questions travel in results.
	c.send(modern("5", "tools/call", "a", `{"elicitation":{}}`, `,"name":"confirm"`))
	if m := c.expect("5"); !strings.Contains(m.raw, `"resultType":"input_required"`) {
		t.Errorf("got %s", m.raw)
	}
	c.send(modern("6", "tools/call", "a", `{"elicitation":{}}`, `,"name":"confirm","requestState":"state","inputResponses":{"sure":{"action":"accept"}}`))
	if m := c.expect("6"); !strings.Contains(m.raw, "answer accept") {
		t.Errorf("got %s", m.raw)
	}
	c.send(modern("7", "ping", "a", "{}", ""))
	if m := c.expect("7"); m.Error == nil || m.Error.Code != mcp.METHOD_NOT_FOUND {
		t.Errorf("got %s", m.raw)
	}
	// A client of the handshake after that is not taken for a stateless one.
	c.handshake()
	c.send(ping("8"))
	if m := c.expect("8"); m.Error != nil {
		t.Errorf("got %s", m.raw)
	}
}
