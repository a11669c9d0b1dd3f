//go:build !windows

package store

import (
	"os"

	"github.com/gofrs/flock"
)

// newFlock locks the memory directory itself, so that containers, other homes
// and other users of it meet at the same lock.
func newFlock(dir, _ string) *flock.Flock { return flock.New(dir, flock.SetFlag(os.O_RDONLY)) }

// locks reports whether a lock is one on this very directory.
func locks(l *flock.Flock, root *os.Root) (bool, error) {
	locked, err := l.Stat()
	if err != nil {
		return false, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return false, err
	}
	return os.SameFile(locked, info), nil
}
