package dream

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks an open file for this process, without waiting. ok is false where another
// one has it. Locks of Windows keep others from reading what is locked, so that it is a
// byte far behind the content: the process number can be read by everybody.
func flock(f *os.File) (ok bool, err error) {
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unflock lets go of the lock. Closing the file does so here: no other process has it.
func unflock(*os.File) error { return nil }
