//go:build !windows

package command

import (
	"os/exec"
	"syscall"
)

// leaveGroup has a program start in a session of its own.
func leaveGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
