package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory atomically.
func exchange(dir *os.File, a, b string) error { return renamex(dir, a, b, unix.RENAME_SWAP) }

// renameNew renames a to b, which must not exist.
func renameNew(dir *os.File, a, b string) error { return renamex(dir, a, b, unix.RENAME_EXCL) }

func renamex(dir *os.File, a, b string, flags uint32) error {
	fd := int(dir.Fd())
	err := unix.RenameatxNp(fd, a, fd, b, flags)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported // a file system without it
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return nil
}
