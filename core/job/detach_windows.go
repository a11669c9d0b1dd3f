package job

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

func startDetached(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	// Handles are passed on only by name, see syscall.StartProcess.
	const flags = windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS
	// A client may have put us into a job object that ends with it.
	attr.Sys = &syscall.SysProcAttr{HideWindow: true, CreationFlags: flags | windows.CREATE_BREAKAWAY_FROM_JOB}
	p, err := os.StartProcess(path, argv, attr)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) { // that job object does not let go
		attr.Sys = &syscall.SysProcAttr{HideWindow: true, CreationFlags: flags}
		p, err = os.StartProcess(path, argv, attr)
	}
	return p, err
}
