//go:build unix

package gate

import (
	"os"
	"syscall"
)

// openFlags: no link is followed, and a pipe that was put in a file's place does
// not block.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// links is the number of names that an open file has.
func links(f *os.File) (uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink), nil
	}
	return 1, nil
}
