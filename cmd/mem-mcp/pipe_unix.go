//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe turns a client that closed our output into a write error
// instead of a sudden death. The signal is caught, not ignored, since ignoring
// would be inherited by child processes.
func ignoreBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
