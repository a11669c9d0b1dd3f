package stdio

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A handler that ends its goroutine, or breaks down, has the input in hand: the next reader gets it at once.
func TestHandlersThatEndTheirReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		ts.add("exit", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			runtime.Goexit()
			return nil, nil
		})
		ts.add("late exit", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(2 * reliefAfter)
			runtime.Goexit()
			return nil, nil
		})
		c := connect(t, ts.MCPServer, Options{Concurrency: 2}).listen().handshake()
		before := runtime.NumGoroutine()
		for i := range 60 {
			id := fmt.Sprint(i)
			c.send(toolCall(id, []string{"exit", "late exit", "panic"}[i%3]))
			if m := c.expect(id); m.Error == nil && !strings.Contains(string(m.Result), "isError") {
				t.Errorf("%s", clip(m.raw))
			}
			begin := time.Now()
			c.send(ping(`"p"`))
			c.expect(`"p"`)
			if took := time.Since(begin); took > reliefAfter {
				t.Errorf("behind call %d a ping took %s", i, took)
			}
		}
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > before+5 {
			t.Errorf("%d goroutines, %d before", n, before)
		}
	})
}

// The input ends, or the session does, while a reader that runs a call has it in hand.
func TestEndWhileACallHasTheInput(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"the input":   func(c *client) { c.close() },
		"the session": func(c *client) { c.stop() },
	} {
		for _, wait := range []time.Duration{0, reliefAfter / 2, 2 * reliefAfter} {
			t.Run(fmt.Sprintf("%s after %v", name, wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ts := newTools()
					c := connect(t, ts.MCPServer, Options{}).listen().handshake()
					c.send(toolCall("1", "slow"))
					<-ts.started
					time.Sleep(wait)
					end(c)
					begin := time.Now()
					m := c.expect("1")
					if err := c.wait(); name == "the input" && err != nil {
						t.Error(err)
					}
					if took := time.Since(begin); took > DefaultGrace+windDown {
						t.Errorf("it took %v", took)
					}
					if !strings.Contains(string(m.Result), "cancelled") {
						t.Errorf("%s", clip(m.raw))
					}
				})
			})
		}
	}
}

// However the input comes in pieces, and whatever calls do meanwhile, each request is answered once.
func TestInputInPieces(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			ts := newTools()
			ts.add("nap", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				time.Sleep(time.Duration(r.GetInt("us", 0)) * time.Microsecond)
				return mcp.NewToolResultText(strings.Repeat("x", r.GetInt("size", 0))), nil
			})
			ts.add("exit", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				runtime.Goexit()
				return nil, nil
			})
			r := rand.New(rand.NewPCG(seed, 1))
			c := connect(t, ts.MCPServer, Options{Concurrency: 1 + int(seed)*3, MaxMessage: 200_000}).listen().handshake()
			const n = 250
			var text strings.Builder
			mayBeCancelled := map[string]bool{}
			for i := range n {
				id := fmt.Sprint(i)
				args := fmt.Sprintf(`{"us":%d,"size":%d,"pad":%q}`, r.IntN(4)*r.IntN(800), r.IntN(3)*r.IntN(3000), strings.Repeat("p", r.IntN(2)*r.IntN(20)*r.IntN(2000)))
				call := func(tool string) string {
					return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
				}
				switch r.IntN(10) {
				case 0:
					text.WriteString(ping(id))
				case 1:
					text.WriteString(call("panic"))
				case 2:
					text.WriteString(call("exit"))
				case 3:
					mayBeCancelled[id] = true
					text.WriteString(call("nap") + "\n" + cancelled(id))
				case 4:
					text.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping","params":{"x":"` + strings.Repeat("y", 200_000) + `"}}`)
				default:
					text.WriteString(call("nap"))
				}
				text.WriteString([]string{"\n", "\r\n", "\n\n \n"}[r.IntN(3)])
			}
			go func() {
				for s := text.String(); s != ""; {
					k := min(len(s), 1+r.IntN(3)*r.IntN(3)*r.IntN(30_000))
					if _, err := c.in.Write([]byte(s[:k])); err != nil {
						t.Error(err)
						return
					}
					if s = s[k:]; r.IntN(20) == 0 {
						time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
					}
				}
				c.close()
			}()
			answered := map[string]int{}
			for _, m := range c.rest() {
				if m.Method != "" {
					t.Fatalf("%s", clip(m.raw))
				}
				answered[string(m.ID)]++
			}
			if err := c.wait(); err != nil {
				t.Error(err)
			}
			for i := range n {
				id := fmt.Sprint(i)
				if got := answered[id]; got > 1 || got == 0 && !mayBeCancelled[id] {
					t.Errorf("request %s was answered %d times", id, got)
				}
			}
		})
	}
}
