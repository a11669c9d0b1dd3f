package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"
)

const benchCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"name":"a-memory"}}}` + "\n"

// rawSession is a session without a test client's JSON decoding in the way.
func rawSession(b *testing.B, serve func(in io.Reader, out io.Writer)) (io.Writer, *bufio.Reader) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(inR, outW)
		outW.Close()
	}()
	b.Cleanup(func() {
		inW.Close()
		io.Copy(io.Discard, outR)
		<-done
	})
	return inW, bufio.NewReaderSize(outR, 1<<20)
}

func ours(b *testing.B) func(in io.Reader, out io.Writer) {
	srv := newTools().MCPServer
	return func(in io.Reader, out io.Writer) { Serve(b.Context(), srv, in, out, Options{}) }
}

func stock(b *testing.B) func(in io.Reader, out io.Writer) {
	srv := server.NewStdioServer(newTools().MCPServer)
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	return func(in io.Reader, out io.Writer) { srv.Listen(ctx, in, out) }
}

func BenchmarkCall(b *testing.B) {
	for name, serve := range map[string]func(*testing.B) func(io.Reader, io.Writer){"ours": ours, "stock": stock} {
		b.Run(name, func(b *testing.B) {
			in, out := rawSession(b, serve(b))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				fmt.Fprintf(in, benchCall, i)
				if _, err := out.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// What mcp-go needs for the same call without a transport: the difference is ours.
	b.Run("HandleMessage", func(b *testing.B) {
		srv := newTools().MCPServer
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			reply := srv.HandleMessage(b.Context(), fmt.Appendf(nil, benchCall, i))
			encodeReply([]byte("1"), reply, nil)
		}
	})
}

func Benchmark32InFlight(b *testing.B) {
	for name, serve := range map[string]func(*testing.B) func(io.Reader, io.Writer){"ours": ours, "stock": stock} {
		b.Run(name, func(b *testing.B) {
			in, out := rawSession(b, serve(b))
			slots := make(chan struct{}, 32)
			go func() {
				for i := range b.N {
					slots <- struct{}{}
					fmt.Fprintf(in, benchCall, i)
				}
			}()
			b.ResetTimer()
			for range b.N {
				if _, err := out.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
				<-slots
			}
		})
	}
}

func BenchmarkProgressBurst(b *testing.B) {
	in, out := rawSession(b, ours(b))
	for b.Loop() {
		fmt.Fprintln(in, modern("1", "tools/call", "x", "{}", `,"name":"progress","arguments":{"n":10000}`))
		for range 10_001 {
			if _, err := out.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkParseHead(b *testing.B) {
	for _, size := range []int{0, 10_000, 1_000_000} {
		msg := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"w","arguments":{"body":%q}}}`, strings.Repeat("some text\n", size/10)))
		b.Run(fmt.Sprint(len(msg)), func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			for b.Loop() {
				parseHead(msg)
			}
		})
	}
}
