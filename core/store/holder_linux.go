package store

import (
	"fmt"
	"os"
	"strings"
	"syscall"
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
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line)
		// "1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF"; waiting ones have "->".
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		name, err := os.ReadFile("/proc/" + f[4] + "/comm")
		if err != nil {
			return "process " + f[4]
		}
		return fmt.Sprintf("process %s (%s)", f[4], strings.TrimSpace(string(name)))
	}
	return ""
}
