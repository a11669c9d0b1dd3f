//go:build unix

package model

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own, and what ends it.
func ownGroup(c *exec.Cmd) (end func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Cancel = kill
	return func() {
		if c.Process != nil {
			_ = kill() // mostly nobody is left
		}
	}
}
