package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mem/internal/need"
)

func TestRepliesAtEndOfInput(t *testing.T) {
	const n = 300
	ts := newTools()
	ts.add("tired", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-time.After(5 * time.Millisecond):
			return mcp.NewToolResultText("done"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	var input strings.Builder
	for i := range n {
		input.WriteString(toolCall(fmt.Sprint(i), "tired"))
		if i < n-1 {
			input.WriteByte('\n') // the last line has no end
		}
	}
	var output strings.Builder
	if err := Serve(t.Context(), ts.MCPServer, strings.NewReader(input.String()), &output, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(output.String(), `"done"`); got != n {
		t.Errorf("%d of %d calls were answered", got, n)
	}
}

// synctest runs these in no time and fails when a goroutine is left behind.

func TestGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		c := connect(t, ts.MCPServer, Options{Grace: 3 * time.Second}).listen().handshake()
		c.send(toolCall("1", "slow"))
		<-ts.started
		begin := time.Now()
		c.close()
		// It is told, and may still answer.
		if m := c.expect("1"); !strings.Contains(m.raw, "cancelled") {
			t.Errorf("got %s", m.raw)
		}
		if err := c.wait(); err != nil {
			t.Error(err)
		}
		// The reader was at the call and saw the end of input reliefAfter later.
		if took := time.Since(begin); took != 3*time.Second+reliefAfter {
			t.Errorf("the grace took %s", took)
		}
		if err := ts.cause("1"); !errors.Is(err, ErrEnded) {
			t.Errorf("the cause is %v", err)
		}
	})
}

func TestDeafHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		c := connect(t, ts.MCPServer, Options{Grace: time.Second}).listen().handshake()
		c.send(toolCall("1", "deaf"))
		<-ts.started
		c.close()
		if err := c.wait(); !errors.Is(err, ErrUnfinished) {
			t.Errorf("Serve returned %v", err)
		}
		close(ts.release) // its goroutine ends, and what it says goes nowhere
	})
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		c := connect(t, ts.MCPServer, Options{}).listen().handshake()
		c.send(toolCall("1", "slow"))
		<-ts.started
		begin := time.Now()
		c.stop()
		c.expect("1")
		if err := c.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// A reader that stops reading, without deadlines on the stream.
func TestDeadReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTools()
		c := connect(t, ts.MCPServer, Options{WriteTimeout: 10 * time.Second, MaxQueued: 1000})
		ended := make(chan struct{})
		ts.add("flood", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			defer close(ended)
			for ts.SendNotificationToClient(ctx, "notifications/progress", nil) == nil {
			}
			return mcp.NewToolResultText("done"), nil
		})
		c.send(initialize, toolCall("1", "flood"), toolCall("2", "progress"), toolCall("3", "progress"))
		begin := time.Now()
		if err := c.wait(); !errors.Is(err, ErrStalled) {
			t.Errorf("Serve returned %v", err)
		}
		<-ended
		if took := time.Since(begin); took > 10*time.Second+2*windDown {
			t.Errorf("it took %s", took)
		}
	})
}

func TestDeadReaderAtEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newTools().MCPServer, Options{})
		c.send(initialize)
		c.close()
		begin := time.Now()
		if err := c.wait(); !errors.Is(err, ErrStalled) {
			t.Errorf("Serve returned %v", err)
		}
		if took := time.Since(begin); took > 2*DefaultGrace {
			t.Errorf("it took %s", took)
		}
	})
}

// A client that sends pings and reads nothing costs the reserve, not more.
func TestPingsWithoutReading(t *testing.T) {
	c := connect(t, newTools().MCPServer, Options{MaxQueued: 1000})
	go func() {
		line := []byte(ping(`"`+strings.Repeat("x", 10_000)+`"`) + "\n")
		for {
			if _, err := c.in.Write(line); err != nil {
				return
			}
		}
	}()
	if err := c.wait(); !errors.Is(err, ErrStalled) {
		t.Errorf("Serve returned %v", err)
	}
}

// The same over a pipe of the system, which has deadlines (but on Windows) and EPIPE.
func TestSystemPipe(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "os.Pipe has no deadlines: a blocked write ends with the process")
	big := strings.Repeat("x", 1<<20)
	for _, tc := range []struct {
		name   string
		reader func(r *os.File)
		want   error
	}{
		{"stops reading", func(r *os.File) {}, ErrStalled},
		{"goes away", func(r *os.File) { r.Close() }, nil},
		{"goes away in the middle", func(r *os.File) {
			io.CopyN(io.Discard, r, 100_000)
			r.Close()
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ts := newTools()
			ts.add("big", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(big), nil
			})
			inR, inW := io.Pipe()
			outR, outW, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer outW.Close()
			defer outR.Close()
			defer inW.Close()
			done := make(chan error, 1)
			go func() {
				done <- Serve(t.Context(), ts.MCPServer, inR, outW, Options{WriteTimeout: 300 * time.Millisecond})
			}()
			go tc.reader(outR)
			fmt.Fprintln(inW, toolCall("1", "big"))
			select {
			case err := <-done:
				if !errors.Is(err, tc.want) {
					t.Errorf("Serve returned %v, want %v", err, tc.want)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Serve did not return")
			}
		})
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriteFails(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	go fmt.Fprintln(w, ping("1"))
	err := Serve(t.Context(), newTools().MCPServer, in, brokenWriter{errTest}, Options{})
	if !errors.Is(err, errTest) || !strings.HasPrefix(err.Error(), "writing to the client: ") {
		t.Errorf("Serve returned %v", err)
	}
}

func TestReadFails(t *testing.T) {
	var out strings.Builder
	in := io.MultiReader(strings.NewReader(toolCall("1", "echo")+"\n"), failingReader{})
	err := Serve(t.Context(), newTools().MCPServer, in, &out, Options{})
	if !errors.Is(err, errTest) {
		t.Errorf("Serve returned %v", err)
	}
	if !strings.Contains(out.String(), `"id":1`) {
		t.Error("the call before the fault was not answered")
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errTest }

func TestSessionsOfOneServer(t *testing.T) {
	ts := newTools()
	c := connect(t, ts.MCPServer, Options{}).listen().handshake()
	if err := Serve(t.Context(), ts.MCPServer, strings.NewReader(""), io.Discard, Options{}); err == nil {
		t.Error("a second session with the same id was taken")
	}
	if err := Serve(t.Context(), ts.MCPServer, strings.NewReader(""), io.Discard, Options{SessionID: "b"}); err != nil {
		t.Error(err)
	}
	c.send(ping("1"))
	c.expect("1")
}
