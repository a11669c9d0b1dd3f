package cputime

import (
	"syscall"
	"time"
)

// Used gives the processor time that this process has used, of all of its threads.
func Used() (time.Duration, error) {
	var created, exited, kernel, user syscall.Filetime
	h, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(h, &created, &exited, &kernel, &user)
	}
	// These two are no times of the clock: they count 100 ns from 0.
	of := func(f syscall.Filetime) int64 { return 100 * (int64(f.HighDateTime)<<32 | int64(f.LowDateTime)) }
	return time.Duration(of(kernel) + of(user)), err
}
