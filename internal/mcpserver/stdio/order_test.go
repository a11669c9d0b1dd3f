package stdio

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mem/internal/need"
)

func TestProgressComesWholeAndBeforeItsReply(t *testing.T) {
	const n = 10_000
	c := connect(t, newTools().MCPServer, Options{ProgressGap: -1}).listen().handshake()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":%d}}}`, n))
	for i := range n {
		if m := c.next(); m.Method != "notifications/progress" || m.Params.Progress != float64(i) {
			t.Fatalf("message %d is %s", i, clip(m.raw))
		}
	}
	c.expect("1")
}

// A slow client slows the handler down; it loses nothing and memory stays bounded.
func TestProgressWaitsForASlowReader(t *testing.T) {
	const n = 2_000
	ts := newTools()
	var sent int
	var mu sync.Mutex
	ts.add("long", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := strings.Repeat("x", 1000)
		for i := range n {
			if err := ts.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progress": i, "message": text}); err != nil {
				return nil, err
			}
			mu.Lock()
			sent++
			mu.Unlock()
		}
		return mcp.NewToolResultText("done"), nil
	})
	c := connect(t, ts.MCPServer, Options{MaxQueued: 10_000})
	go c.send(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, toolCall("1", "long"))
	// Nobody reads yet: what is queued is the limit, the writer's batch, and the places of the notifier.
	time.Sleep(200 * time.Millisecond)
	mu.Lock()
	ahead := sent
	mu.Unlock()
	if ahead > 2*notifyBuffer+100 {
		t.Errorf("the handler is %d messages ahead of a client that reads nothing", ahead)
	}
	c.listen()
	c.expect(`"init"`)
	for i := range n {
		if m := c.next(); m.Params.Progress != float64(i) {
			t.Fatalf("message %d is %s", i, clip(m.raw))
		}
	}
	c.expect("1")
}

func TestManyHandlersNotifyAtOnce(t *testing.T) {
	const handlers, goroutines, each = 8, 50, 20
	ts := newTools()
	ts.add("crowd", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var wg sync.WaitGroup
		var failed error
		var once sync.Once
		for range goroutines {
			wg.Go(func() {
				for range each {
					if err := ts.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": 1}); err != nil {
						once.Do(func() { failed = err })
					}
				}
			})
		}
		wg.Wait()
		return mcp.NewToolResultText("done"), failed
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	for i := range handlers {
		c.send(toolCall(fmt.Sprint(i), "crowd"))
	}
	notes, replies := 0, 0
	for replies < handlers {
		m := c.next()
		switch {
		case m.Method != "":
			notes++
		case m.Error != nil:
			t.Fatal(m.raw)
		default:
			replies++
		}
	}
	if want := handlers * goroutines * each; notes != want {
		t.Errorf("%d notifications came, %d were sent", notes, want)
	}
}

// What a handler sends to the session instead of through its context also comes before its reply.
func TestBroadcastBeforeReply(t *testing.T) {
	ts := newTools()
	ts.add("broadcast", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for range 100 {
			ts.SendNotificationToAllClients("notifications/x", nil)
		}
		return mcp.NewToolResultText("done"), nil
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	for round := range 20 {
		c.send(toolCall(fmt.Sprint(round), "broadcast"))
		for range 100 {
			if m := c.next(); m.Method != "notifications/x" {
				t.Fatalf("got %s", m.raw)
			}
		}
		c.expect(fmt.Sprint(round))
	}
}

func TestLateNotificationsAreRefused(t *testing.T) {
	ts := newTools()
	late := make(chan error, 1)
	ts.add("leaves", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		go func() {
			<-ts.release
			late <- ts.SendNotificationToClient(ctx, "notifications/progress", nil)
		}()
		return mcp.NewToolResultText("done"), nil
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	c.send(toolCall("1", "leaves"))
	c.expect("1")
	close(ts.release)
	if err := <-late; err == nil {
		t.Error("progress after the reply was accepted")
	}
	c.send(ping("2"))
	c.expect("2")
}

func TestPingBesideSlowCalls(t *testing.T) {
	for _, slow := range []int{12, DefaultConcurrency, DefaultConcurrency + 200} {
		t.Run(fmt.Sprint(slow), func(t *testing.T) {
			ts := newTools()
			c := connect(t, ts.MCPServer, Options{}).listen().handshake()
			for i := range slow {
				c.send(toolCall(fmt.Sprint(i), "slow"))
			}
			for range min(slow, DefaultConcurrency) {
				<-ts.started
			}
			begin := time.Now()
			c.send(ping(`"p"`))
			c.expect(`"p"`)
			if took := time.Since(begin); took > time.Second {
				t.Errorf("a ping took %s beside %d slow calls", took, slow)
			}
			// Cancels are read too, of calls that run and of calls that wait.
			c.send(cancelled("0"), cancelled(fmt.Sprint(slow-1)), ping(`"p"`))
			c.expect(`"p"`)
			close(ts.release)
			c.close()
			if got := len(c.rest()); got != slow-2 {
				t.Errorf("%d replies, want %d", got, slow-2)
			}
		})
	}
}

// Twelve calls that need each other can only end when all of them run at once.
func TestCallsRunBesideEachOther(t *testing.T) {
	ts := newTools()
	var all sync.WaitGroup
	all.Add(DefaultConcurrency)
	ts.add("meet", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		all.Done()
		all.Wait()
		return mcp.NewToolResultText("met"), nil
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	lines := make([]string, DefaultConcurrency)
	for i := range lines {
		lines[i] = toolCall(fmt.Sprint(i), "meet")
	}
	c.send(lines...)
	for range lines {
		c.next()
	}
}

// Requests that follow a notification see what its handler did.
func TestNotificationsAreHandledInOrder(t *testing.T) {
	ts := newTools()
	var seen []string
	ts.AddNotificationHandler("notifications/x", func(_ context.Context, n mcp.JSONRPCNotification) {
		time.Sleep(time.Millisecond)
		seen = append(seen, fmt.Sprint(n.Params.AdditionalFields["n"]))
	})
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/x","params":{"n":%d}}`, i))
	}
	c.send(append(lines, ping("1"))...)
	c.expect("1")
	if got, want := strings.Join(seen, " "), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"; got != want {
		t.Errorf("order %s", got)
	}
}

// When nothing moves any more, requests beyond the waiting ones are refused and pings still answered.
func TestFullHouse(t *testing.T) {
	need.Asked(t, !testing.Short(), "waits for admitPatience")
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{Concurrency: 2}).listen().handshake()
	for i := range maxWaiting + 2 {
		c.send(toolCall(fmt.Sprint(i), "slow"))
		if i < 2 {
			<-ts.started
		}
	}
	c.send(toolCall(`"one too many"`, "slow"), toolCall(`"another"`, "slow"), ping(`"p"`))
	for _, id := range []string{`"one too many"`, `"another"`} {
		if m := c.expect(id); m.Error == nil || m.Error.Code != codeOverloaded {
			t.Errorf("got %s", m.raw)
		}
	}
	c.expect(`"p"`)
	close(ts.release)
	for range maxWaiting + 2 {
		c.next()
	}
	c.send(toolCall(`"again"`, "echo"))
	c.expect(`"again"`)
}
