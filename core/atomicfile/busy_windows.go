package atomicfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// busy reports whether an error may say that somebody has the file open. Denied access is
// how Windows words it where a name is replaced.
func busy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
