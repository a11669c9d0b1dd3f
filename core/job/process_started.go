//go:build darwin || windows

package job

import "strings"

// processStart is "machine:" and what startedAt gives: a moment that no other process with this pid was started at.
func processStart(pid int) string {
	at, ok := startedAt(pid)
	if !ok || at == "" {
		return ""
	}
	return machine() + ":" + at
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
	case ok && (at == want || at == ""):
		return alive
	}
	return dead
}
