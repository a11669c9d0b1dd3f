package stdio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var form = mcp.ElicitationParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}

// asking is a server whose tool asks the client, and what came of it.
func asking(ask func(ctx context.Context, s *server.MCPServer) (string, error)) (*tools, chan error) {
	ts := newTools()
	outcome := make(chan error, 100)
	ts.add("ask", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := ask(ctx, ts.MCPServer)
		outcome <- err
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(text), nil
	})
	return ts, outcome
}

func elicit(ctx context.Context, s *server.MCPServer) (string, error) {
	r, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: form})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.Action, r.Content), nil
}

// sampling: the server's own method for it is deprecated, the session's is not.
func sampling(ctx context.Context) server.SessionWithSampling {
	return server.ClientSessionFromContext(ctx).(server.SessionWithSampling)
}

func TestAskTheClient(t *testing.T) {
	for _, tc := range []struct {
		method, result, want string
		ask                  func(ctx context.Context, s *server.MCPServer) (string, error)
	}{
		{"elicitation/create", `{"action":"accept","content":{"a":1}}`, "acceptmap[a:1]", elicit},
		{"roots/list", `{"roots":[{"uri":"file:///a"}]}`, "file:///a", func(ctx context.Context, s *server.MCPServer) (string, error) {
			r, err := s.RequestRoots(ctx, mcp.ListRootsRequest{})
			if err != nil {
				return "", err
			}
			return r.Roots[0].URI, nil
		}},
		{"sampling/createMessage", `{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}`, "hi", func(ctx context.Context, s *server.MCPServer) (string, error) {
			r, err := sampling(ctx).RequestSampling(ctx, mcp.CreateMessageRequest{})
			if err != nil {
				return "", err
			}
			return mcp.GetTextFromContent(r.Content), nil
		}},
	} {
		t.Run(tc.method, func(t *testing.T) {
			ts, _ := asking(tc.ask)
			c := connect(t, ts.MCPServer, Options{Concurrency: 2}).listen().handshake()
			// The answer is delivered while every worker is busy and calls wait.
			c.send(toolCall("1", "ask"))
			question := c.next()
			if question.Method != tc.method {
				t.Fatalf("got %s", question.raw)
			}
			c.send(toolCall("2", "slow"), toolCall("3", "slow"))
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, question.ID, tc.result))
			if m := c.expect("1"); !strings.Contains(m.raw, tc.want) {
				t.Errorf("got %s, want %s", m.raw, tc.want)
			}
			close(ts.release)
			c.next()
			c.next()
		})
	}
}

func TestAskGetsNoGoodAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string // %s is the id of the question
		want   string
	}{
		"error":     {`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, "it answered with error -1: no"},
		"malformed": {`{"jsonrpc":"2.0","id":%s,"result":{"action":7}}`, "reading its answer"},
		"too long":  {`{"jsonrpc":"2.0","id":%s,"result":{"action":"` + strings.Repeat("x", 2000) + `"}}`, "longer than 1000 bytes"},
		"wrong id":  {`{"jsonrpc":"2.0","id":"%s","result":{}}`, "session has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			ts, outcome := asking(elicit)
			c := connect(t, ts.MCPServer, Options{MaxMessage: 1000}).listen().handshake()
			c.send(toolCall("1", "ask"))
			question := c.next()
			c.send(fmt.Sprintf(tc.answer, question.ID))
			if name == "wrong id" {
				c.close()
			}
			if err := <-outcome; err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			c.expect("1")
		})
	}
}

func TestAskTimesOutOrIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, outcome := asking(elicit)
		c := connect(t, ts.MCPServer, Options{AskTimeout: time.Minute}).listen().handshake()
		c.send(toolCall("1", "ask"))
		question := c.next()
		time.Sleep(time.Minute)
		if err := <-outcome; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if m := c.next(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != string(question.ID) {
			t.Errorf("got %s", m.raw)
		}
		c.expect("1")
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, question.ID)) // too late: ignored

		c.send(toolCall("2", "ask"))
		question = c.next()
		c.send(cancelled("2"))
		if err := <-outcome; !errors.Is(err, ErrCancelled) {
			t.Errorf("got %v", err)
		}
		if m := c.next(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != string(question.ID) {
			t.Errorf("got %s", m.raw)
		}
		c.send(ping("3"))
		c.expect("3")
	})
}

func TestAskWithoutTheCapability(t *testing.T) {
	const plain = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`
	url := func(ctx context.Context, s *server.MCPServer) (string, error) {
		_, err := s.RequestURLElicitation(ctx, server.ClientSessionFromContext(ctx), "1", "https://x", "m")
		return "", err
	}
	for name, tc := range map[string]struct {
		caps string
		ask  func(ctx context.Context, s *server.MCPServer) (string, error)
	}{
		"elicitation":          {`{}`, elicit},
		"forms, only URLs":     {`{"elicitation":{"url":{}}}`, elicit},
		"a URL, only forms":    {`{"elicitation":{"form":{}}}`, url},
		"a URL, empty is form": {`{"elicitation":{}}`, url},
		"roots": {`{}`, func(ctx context.Context, s *server.MCPServer) (string, error) {
			_, err := s.RequestRoots(ctx, mcp.ListRootsRequest{})
			return "", err
		}},
		"sampling": {`{}`, func(ctx context.Context, s *server.MCPServer) (string, error) {
			_, err := sampling(ctx).RequestSampling(ctx, mcp.CreateMessageRequest{})
			return "", err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ts, outcome := asking(tc.ask)
			c := connect(t, ts.MCPServer, Options{}).listen()
			c.send(fmt.Sprintf(plain, tc.caps))
			c.expect(`"init"`)
			c.send(toolCall("1", "ask"))
			if err := <-outcome; !errors.Is(err, ErrUndeclared) {
				t.Errorf("got %v", err)
			}
			c.expect("1")
		})
	}
}

// No request of the server may reach a stateless client, whichever way a handler tries.
func TestAskInTheStatelessEra(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, s *server.MCPServer) (string, error){
		"through the server": elicit,
		"through the session": func(ctx context.Context, s *server.MCPServer) (string, error) {
			_, err := server.ClientSessionFromContext(ctx).(server.SessionWithElicitation).RequestElicitation(ctx, mcp.ElicitationRequest{Params: form})
			return "", err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts, outcome := asking(ask)
			c := connect(t, ts.MCPServer, Options{}).listen()
			c.send(modern("1", "tools/call", "a", `{"elicitation":{}}`, `,"name":"ask"`))
			if err := <-outcome; !errors.Is(err, server.ErrServerInitiatedRequestUnsupported) {
				t.Errorf("got %v", err)
			}
			c.expect("1")
		})
	}
}

// The one handler of the stateless era serves the handshake era too: mcp-go asks in its place.
func TestInputRequiredInTheHandshakeEra(t *testing.T) {
	ts := newTools()
	ts.add("confirm", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if e := server.ElicitationResponse(r.Params.InputResponses, "sure"); e != nil {
			return mcp.NewToolResultText("answer " + string(e.Action)), nil
		}
		return server.NewInputRequestBuilder("").Elicit("sure", form).ToolResult(), nil
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(toolCall("1", "confirm"))
	question := c.next()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, question.ID))
	if m := c.expect("1"); !strings.Contains(m.raw, "answer decline") {
		t.Errorf("got %s", m.raw)
	}
}

// A handler on the reader that waits for the client would wait for itself; a goroutine that it starts may ask.
func TestAskFromTheReader(t *testing.T) {
	ts := newTools()
	waited, asked := make(chan error, 1), make(chan error, 1)
	ts.AddNotificationHandler("notifications/wait", func(ctx context.Context, _ mcp.JSONRPCNotification) {
		_, err := elicit(ctx, ts.MCPServer)
		waited <- err
	})
	ts.AddNotificationHandler("notifications/go", func(ctx context.Context, _ mcp.JSONRPCNotification) {
		go func() {
			_, err := ts.RequestRoots(ctx, mcp.ListRootsRequest{})
			asked <- err
		}()
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(`{"jsonrpc":"2.0","method":"notifications/go"}`)
	question := c.next()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, question.ID))
	if err := <-asked; err != nil {
		t.Error(err)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/wait"}`, ping("1"))
	if err := <-waited; !errors.Is(err, ErrAskInline) {
		t.Errorf("got %v", err)
	}
	c.expect("1")
}
