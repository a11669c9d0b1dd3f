//go:build amd64 || arm64

package killtest

import "golang.org/x/sys/unix"

// renameat has a number of its own on systems that had it before renameat2.
const renameat = unix.SYS_RENAMEAT
