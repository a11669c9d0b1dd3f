// Command mem-mcp serves the memory of a project to agents over MCP, and reads
// and writes it on the command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"mem/core/settings"
	"mem/internal/cli"
	"mem/internal/term"
)

// version is set by release builds.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	term.CollectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	term.CatchBrokenPipe()
	return cli.Run(ctx, settings.FromOS(), term.FromOS(), version, os.Args[1:])
}
