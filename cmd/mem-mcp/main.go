// Command mem-mcp serves the memory of a project to agents over MCP, and reads
// and writes it on the command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"mem/core/settings"
	"mem/internal/cli"
)

// version is set by release builds.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ignoreBrokenPipe()
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		streams.Terminal = true
		if w, _, err := term.GetSize(fd); err == nil {
			streams.Width = w
		}
	}
	return cli.Run(ctx, settings.FromOS(), streams, version, os.Args[1:])
}
