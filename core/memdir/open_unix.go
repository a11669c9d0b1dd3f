//go:build unix

package memdir

import "syscall"

// NoWait is a flag to open files with: a pipe in the place of one is not waited for. Nobody
// may be at its other end, ever.
const NoWait = syscall.O_NONBLOCK
