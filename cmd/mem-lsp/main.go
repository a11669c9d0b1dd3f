// Command mem-lsp shows editors what is wrong with a memory and mends it, over the
// language server protocol, and does the same on the command line.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"mem/core/settings"
	"mem/internal/lspcli"
	"mem/internal/lspserver"
	"mem/internal/term"
)

// version is set by release builds.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	term.CollectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends it at once
	term.CatchBrokenPipe()
	return lspcli.Run(ctx, lspcli.Options{Env: settings.FromOS(), Streams: term.FromOS(), Version: version, Serve: serve}, os.Args[1:])
}

func serve(ctx context.Context, env settings.Env, in io.Reader, out, log io.Writer, version string) error {
	return lspserver.Serve(ctx, lspserver.Options{Env: env, In: in, Out: out, Log: log, Version: version})
}
