package job

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// stateZombie is SZOMB of sys/proc.h.
const stateZombie = 5

// processStart is "machine:seconds.microseconds".
func processStart(pid int) string {
	at, ok := startedAt(pid)
	if !ok {
		return ""
	}
	return machine() + ":" + at
}

func startedAt(pid int) (string, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == stateZombie {
		return "", false
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec), true
}

func look(pid int, start string) life {
	if pid <= 0 {
		return dead
	}
	at, ok := startedAt(pid)
	if start == "" {
		if ok {
			return alive
		}
		return dead
	}
	theirs, want, found := strings.Cut(start, ":")
	switch {
	case !found:
		return dead
	case theirs != machine():
		return unseen
	case ok && at == want:
		return alive
	}
	return dead
}
