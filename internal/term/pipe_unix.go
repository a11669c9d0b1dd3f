//go:build !windows

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// CatchBrokenPipe turns a reader that closed our output into a write error
// instead of a sudden death. The signal is caught, not ignored, since ignoring
// would be inherited by child processes.
func CatchBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
