//go:build !amd64 && !arm64

package killtest

// renameat is none here: renameat2 does it.
const renameat = 1<<63 - 1
