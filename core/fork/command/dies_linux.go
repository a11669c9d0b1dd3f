package command

import (
	"runtime"
	"syscall"
)

// diesWithUs has the system kill a program when this process dies, however that happens.
// The system looks at the thread that started it: until release is called, the goroutine keeps that thread.
func diesWithUs(a *syscall.SysProcAttr) (release func()) {
	a.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
