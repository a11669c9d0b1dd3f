//go:build !windows

package dream

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"mem/core/store"
)

// renameNew renames a file of a directory to a name that must be free.
func renameNew(dir *os.File, from, to string) error { return store.RenameNew(dir, from, to) }

// flock locks an open file for this process, without waiting. ok is false where another
// one has it.
func flock(f *os.File) (ok bool, err error) {
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unflock lets go of the lock, whoever has the open file besides: a process that is being
// started holds it for a moment, as all that is open here.
func unflock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_UN)
}
