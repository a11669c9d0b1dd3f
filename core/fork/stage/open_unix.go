//go:build !windows

package stage

import (
	"os"
	"syscall"
)

// openFlags open a file of the stage: a pipe that a command left there must not hold us up.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// links gives how many names an open file has.
func links(f *os.File) uint64 {
	info, err := f.Stat()
	if err != nil {
		return 1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
