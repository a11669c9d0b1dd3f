package stdio

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestCancelRightBehindItsCall(t *testing.T) {
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			ts := newTools()
			c := connect(t, ts.MCPServer, Options{}).listen()
			for i := range 500 {
				id := fmt.Sprint(i)
				line := toolCall(id, "slow")
				if era == "stateless" {
					line = modern(id, "tools/call", "test", "{}", `,"name":"slow"`)
				}
				c.send(line, cancelled(id))
			}
			c.send(ping(`"p"`))
			c.expect(`"p"`)
			c.close()
			if all := c.rest(); len(all) > 0 {
				t.Errorf("%d messages for cancelled calls, the first is %s", len(all), clip(all[0].raw))
			}
			if err := c.wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCancelOfAWaitingCall(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{Concurrency: 1}).listen().handshake()
	c.send(toolCall("1", "slow"))
	<-ts.started
	c.send(toolCall("2", "slow"), cancelled("2"), ping("3"))
	c.expect("3")
	close(ts.release)
	c.expect("1")
	c.send(toolCall("4", "echo"))
	c.expect("4")
	select {
	case id := <-ts.started:
		t.Errorf("call %s ran although it was cancelled before", id)
	default:
	}
}

func TestCancelTellsWhy(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(toolCall("1", "slow"))
	<-ts.started
	c.send(cancelled("1"))
	c.close()
	if all := c.rest(); len(all) > 0 {
		t.Errorf("got %s", all[0].raw)
	}
	if err := ts.cause("1"); !errors.Is(err, ErrCancelled) || err.Error() != "cancelled by the client: test" {
		t.Errorf("the cause is %v", err)
	}
}

func TestCancelKeepsIDsApart(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(toolCall("9", "slow"), toolCall(`"9"`, "slow"))
	<-ts.started
	<-ts.started
	c.send(cancelled("9"), ping("1"))
	c.expect("1")
	close(ts.release)
	c.expect(`"9"`)
	c.close()
	if all := c.rest(); len(all) > 0 {
		t.Errorf("got %s", all[0].raw)
	}
	if ts.cause(`"9"`) != nil {
		t.Error(`the cancel of 9 reached "9"`)
	}
}

func TestCancelOfUnknownFinishedOrMalformed(t *testing.T) {
	c := connect(t, newTools().MCPServer, Options{}).listen().handshake()
	c.send(toolCall("1", "echo"))
	c.expect("1")
	c.send(cancelled("1"), cancelled("77"), cancelled("null"), cancelled("{}"),
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
		ping("2"))
	c.expect("2")
	c.send(toolCall("1", "echo")) // a finished id may come again
	c.expect("1")
}

// The client has forgotten a call that it cancelled: it is sent no further progress either.
func TestCancelStopsProgress(t *testing.T) {
	ts := newTools()
	refused := make(chan error, 1)
	ts.add("chatty", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ts.started <- "chatty"
		<-ctx.Done()
		refused <- ts.SendNotificationToClient(ctx, "notifications/progress", nil)
		return mcp.NewToolResultText("done"), nil
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(toolCall("1", "chatty"))
	<-ts.started
	c.send(cancelled("1"))
	if err := <-refused; err == nil {
		t.Error("progress after the cancel was accepted")
	}
	c.close()
	if all := c.rest(); len(all) > 0 {
		t.Errorf("got %s", all[0].raw)
	}
}

// A handler that waits for a client that does not read can be cancelled.
func TestCancelWakesABlockedSender(t *testing.T) {
	ts := newTools()
	returned := make(chan error, 1)
	ts.add("flood", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for {
			if err := ts.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progress": 1}); err != nil {
				returned <- err
				return nil, err
			}
		}
	})
	c := connect(t, ts.MCPServer, Options{MaxQueued: 1000})
	go c.send(initialize, toolCall("1", "flood"))
	time.Sleep(100 * time.Millisecond)
	c.send(cancelled("1"))
	select {
	case <-returned:
	case <-time.After(10 * time.Second):
		t.Fatal("the handler still waits")
	}
	c.listen()
}

func TestSameIDTwice(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(toolCall("1", "slow"))
	<-ts.started
	c.send(toolCall("1", "slow"))
	if m := c.expect("1"); m.Error == nil || m.Error.Code != mcp.INVALID_REQUEST {
		t.Errorf("got %s", m.raw)
	}
	close(ts.release)
	if m := c.expect("1"); m.Error != nil {
		t.Errorf("got %s", m.raw)
	}
}
