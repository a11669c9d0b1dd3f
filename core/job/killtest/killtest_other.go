//go:build !linux

package killtest

import "os/exec"

// Run gives ErrNot.
func Run(*exec.Cmd, string, int) (Death, error) { return Death{}, ErrNot }
