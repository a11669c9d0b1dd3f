package stdio

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func (m message) stream() string { return fmt.Sprint(m.Params.Meta[mcp.MetaKeySubscriptionID]) }

func TestListen(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{}).listen()
	c.send(modern(`"a"`, "subscriptions/listen", "x", "{}", `,"notifications":{"toolsListChanged":true}`))
	c.send(modern(`2`, "subscriptions/listen", "x", "{}", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["m://1"]}`))
	for range 2 {
		if m := c.next(); m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("got %s", m.raw)
		}
	}
	waitUntil(t, func() bool { return ts.subscribed("m://1") })

	// Each stream gets its own copy of what it asked for, and nothing else.
	ts.SendNotificationToAllClients("notifications/prompts/list_changed", nil)
	ts.SendNotificationToAllClients("notifications/tools/list_changed", nil)
	streams := map[string]bool{}
	for range 2 {
		m := c.next()
		if m.Method != "notifications/tools/list_changed" {
			t.Fatalf("got %s", m.raw)
		}
		streams[m.stream()] = true
	}
	if !streams["a"] || !streams["2"] {
		t.Errorf("streams %v", streams)
	}
	for _, uri := range []string{"m://2", "m://1"} {
		if err := ts.SendNotificationToSpecificClient("stdio", "notifications/resources/updated", map[string]any{"uri": uri}); err != nil {
			t.Fatal(err)
		}
	}
	if m := c.next(); m.Params.URI != "m://1" || m.stream() != "2" {
		t.Errorf("got %s", m.raw)
	}

	// A cancelled stream gets no reply; the other one goes on.
	c.send(cancelled("2"))
	waitUntil(t, func() bool { return !ts.subscribed("m://1") })
	ts.SendNotificationToAllClients("notifications/tools/list_changed", nil)
	if m := c.next(); m.stream() != "a" {
		t.Errorf("got %s", m.raw)
	}

	// The end of the session closes it in good order and at once.
	begin := time.Now()
	c.close()
	if m := c.expect(`"a"`); !strings.Contains(string(m.Result), mcp.MetaKeySubscriptionID) {
		t.Errorf("got %s", m.raw)
	}
	if err := c.wait(); err != nil || time.Since(begin) > DefaultGrace/2 {
		t.Errorf("Serve returned %v after %s", err, time.Since(begin))
	}
}

func (ts *tools) subscribed(uri string) bool { return ts.session.Load().IsSubscribedToResource(uri) }

func TestListenTakesNoWorker(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{Concurrency: 1}).listen()
	for i := range maxListens {
		c.send(modern(fmt.Sprint(i), "subscriptions/listen", "x", "{}", `,"notifications":{"toolsListChanged":true}`))
		c.next()
	}
	c.send(modern(`"more"`, "subscriptions/listen", "x", "{}", `,"notifications":{"toolsListChanged":true}`))
	if m := c.expect(`"more"`); m.Error == nil {
		t.Errorf("got %s", m.raw)
	}
	c.send(toolCall(`"call"`, "echo"))
	c.expect(`"call"`)
}

// A client of the handshake gets broadcasts untagged and unasked, as before.
func TestSubscribeInTheHandshakeEra(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"m://1"}}`)
	c.expect("1")
	ts.SendNotificationToAllClients("notifications/tools/list_changed", nil)
	if m := c.next(); m.Method != "notifications/tools/list_changed" || m.Params.Meta != nil {
		t.Errorf("got %s", m.raw)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"m://1"}}`)
	c.expect("2")
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for range 2000 {
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not come about")
}
