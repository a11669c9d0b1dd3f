package job

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/windows"
)

// processStart is "machine:creation time", in units of 100 ns since 1601.
func processStart(pid int) string {
	at, ok := startedAt(pid)
	if !ok || at == "" {
		return ""
	}
	return machine() + ":" + at
}

// startedAt gives when a process was created, "" when it lives and does not say.
func startedAt(pid int) (string, bool) {
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
	case ok && (at == want || at == ""):
		return alive
	}
	return dead
}
