//go:build unix

package memdir

import "syscall"

// doNotWait: a pipe is opened though nobody writes to it.
const doNotWait = syscall.O_NONBLOCK
