package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory atomically.
func exchange(dir *os.File, a, b string) error { return rename2(dir, a, b, unix.RENAME_EXCHANGE) }

// renameNew renames a to b, which must not exist.
func renameNew(dir *os.File, a, b string) error { return rename2(dir, a, b, unix.RENAME_NOREPLACE) }

func rename2(dir *os.File, a, b string, flags uint) error {
	fd := int(dir.Fd())
	err := unix.Renameat2(fd, a, fd, b, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported // an old kernel, or a file system without it
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return nil
}
