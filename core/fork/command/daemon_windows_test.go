package command

import "os/exec"

func leaveGroup(*exec.Cmd) {}
