//go:build unix && !linux && !darwin

package job

import (
	"errors"
	"syscall"
)

// processStart is "": this system has no way that we know.
func processStart(int) string { return "" }

func look(pid int, _ string) life {
	if pid <= 0 {
		return dead
	}
	if err := syscall.Kill(pid, 0); err == nil || errors.Is(err, syscall.EPERM) {
		return alive
	}
	return dead
}
