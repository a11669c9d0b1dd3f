//go:build !windows

package command

import (
	"os/exec"
	"syscall"
)

// group is a program and what it starts: a process group of its own.
type group struct {
	cmd     *exec.Cmd
	release func()
}

// newGroup is followed by close in the same goroutine.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &group{cmd, diesWithUs(cmd.SysProcAttr)}
}

func (g *group) started() {}
func (g *group) close()   { g.release() }

// ask asks all of them to end.
func (g *group) ask() error { return syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM) }

// kill ends whoever is left. The group has no other number as long as one of it lives.
func (g *group) kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
