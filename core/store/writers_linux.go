package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writers reports whether another program has a file open for writing; known is
// false where the system does not tell, as for a file of another user. The kernel
// grants a read lease only on a file that nobody writes.
func writers(f *os.File) (some, known bool) {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		return false, err == nil
	}
	return true, errors.Is(err, unix.EAGAIN)
}
