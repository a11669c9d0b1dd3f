//go:build !linux && !windows

package command

import "syscall"

// diesWithUs can do nothing here: a program whose reader was killed ends at the next line that
// it prints.
func diesWithUs(*syscall.SysProcAttr) (release func()) { return func() {} }
