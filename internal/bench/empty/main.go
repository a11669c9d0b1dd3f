// Command empty links what mem-mcp links and does nothing: what a process of it costs at
// the least.
package main

import (
	"context"
	"os"

	"mem/core/settings"
	"mem/internal/cli"
	"mem/internal/term"
)

func main() {
	if len(os.Args) < 1000 {
		return
	}
	// Never reached, and so linked.
	os.Exit(cli.Run(context.Background(), settings.FromOS(), term.FromOS(), "", os.Args[1:]))
}
