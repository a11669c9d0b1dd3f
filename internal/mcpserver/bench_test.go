package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"mem/core/memory"
	"mem/core/settings"
)

// BenchmarkRead is a call of memory_read over a pipe inside the process.
func BenchmarkRead(b *testing.B) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	home := b.TempDir()
	go func() {
		opt := memory.Options{Env: settings.Env{Home: home + "/home", Cwd: home, StateDir: home + "/state", ConfigDir: home + "/config"}, MemoryDir: home + "/memory"}
		if err := New(Options{Memory: opt, Version: "bench"}).Serve(context.Background(), inR, outW); err != nil {
			b.Error(err)
		}
		_ = outW.Close()
	}()
	out := bufio.NewReader(outR)
	ask := func(line string) {
		if _, err := io.WriteString(inW, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := out.ReadBytes('\n'); err != nil {
			b.Fatal(err)
		}
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_write","arguments":{"name":"a","description":"d","type":"user","body":"` + strings.Repeat("The part is deployed on Tuesdays by the release team, since the cache needs warming. ", 22) + `"}}}`)
	for i := 2; b.Loop(); i++ {
		ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_read","arguments":{"topic":"a.md"}}}`, i))
	}
	_ = inW.Close()
}
