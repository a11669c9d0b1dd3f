package store

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelHolder asks the kernel who holds the flock on a directory; "" when it
// does not say, as across containers.
func kernelHolder(dir string) string {
	var st syscall.Stat_t
	if syscall.Stat(dir, &st) != nil {
		return ""
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	dev := uint64(st.Dev)
	exact := fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
	found := ""
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line)
		// "1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF"; waiting ones have "->".
		if len(f) < 6 || f[1] != "FLOCK" || f[4] == "0" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		name := "process " + f[4]
		if comm, err := os.ReadFile("/proc/" + f[4] + "/comm"); err == nil {
			name = fmt.Sprintf("process %s (%s)", f[4], strings.TrimSpace(string(comm)))
		}
		if f[5] == exact {
			return name
		}
		found = name // some file systems give files another device than their locks
	}
	return found
}
