package stdio

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// What comes while a call runs waits for reliefAfter, not for the call.
func TestPingBesideACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		c := connect(t, ts.MCPServer, Options{}).listen().handshake()
		for id := range strings.SplitSeq("1 2 3", " ") {
			c.send(toolCall(id, "slow"))
			<-ts.started
			begin := time.Now()
			c.send(ping(`"p"`))
			c.expect(`"p"`)
			if took := time.Since(begin); took > reliefAfter {
				t.Errorf("beside call %s a ping took %s", id, took)
			}
		}
		close(ts.release)
		for range 3 {
			c.next()
		}
	})
}

// A short call wakes no other reader: that would cost more than the call.
func TestShortCallsKeepTheirReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		runs := make(map[string]int) // by goroutine; one call at a time writes it
		ts.add("who", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			buf := make([]byte, 64)
			goroutine, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "[")
			runs[goroutine]++
			return mcp.NewToolResultText("ok"), nil
		})
		c := connect(t, ts.MCPServer, Options{}).listen().handshake()
		for range 50 {
			c.send(toolCall("1", "who"))
			c.expect("1")
		}
		if len(runs) != 1 {
			t.Errorf("50 short calls, one after the other, were run by %d goroutines: %v", len(runs), runs)
		}
	})
}
