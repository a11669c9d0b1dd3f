package job

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// startedAt gives when a process was created, in units of 100 ns since 1601; "" when it lives and does not say.
func startedAt(pid int) (at string, alive bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		// One of another user lives, but may not be looked at.
		return "", errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing to lose
	var code uint32
	// An ended process can be opened as long as somebody holds it.
	if windows.GetExitCodeProcess(h, &code) == nil && code != stillActive {
		return "", false
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return "", true
	}
	return strconv.FormatUint(uint64(created.HighDateTime)<<32|uint64(created.LowDateTime), 10), true
}

// stillActive is STILL_ACTIVE of minwinbase.h.
const stillActive = 259
