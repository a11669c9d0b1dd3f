//go:build !windows

package stdio

import "syscall"

func goneNumber(syscall.Errno) bool { return false }
