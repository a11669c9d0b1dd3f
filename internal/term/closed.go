package term

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// OutputClosed reports whether an error is that who read this program's output has seen
// enough. A program of ours that broke its pipe is another matter.
func OutputClosed(err error) bool {
	if !errors.Is(err, syscall.EPIPE) {
		return false
	}
	var at *fs.PathError
	return !errors.As(err, &at) || at.Path == os.Stdout.Name() || at.Path == os.Stderr.Name()
}
