//go:build !windows

package stage

import (
	"syscall"
	"testing"
)

func pipe(t *testing.T, at string) {
	t.Helper()
	rm(t, at)
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		t.Fatal(err)
	}
}
