package dream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// renameNew renames a file of a directory to a name that must be free. Every file system of
// Windows has that.
func renameNew(dir *os.File, from, to string) error {
	a, err := windows.UTF16PtrFromString(filepath.Join(dir.Name(), from))
	if err != nil {
		return err
	}
	b, err := windows.UTF16PtrFromString(filepath.Join(dir.Name(), to))
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(a, b, 0); err != nil {
		if errors.Is(err, windows.ERROR_ALREADY_EXISTS) || errors.Is(err, windows.ERROR_FILE_EXISTS) {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
		}
		return errors.ErrUnsupported // a link is tried then
	}
	return nil
}

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
