//go:build !windows

package job

import (
	"os"
	"strconv"
	"syscall"
)

func startDetached(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{Setsid: true}
	// Ours are closed by exec. What whoever started us left open would be inherited by
	// the new process, and keep his pipes open as long as it runs.
	keepToOurselves()
	return os.StartProcess(path, argv, attr)
}

// keepToOurselves marks all open descriptors but the three standard ones as closed by
// exec. The folder lists them on every system that we know.
func keepToOurselves() {
	d, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, n := range names {
		if fd, err := strconv.Atoi(n); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
