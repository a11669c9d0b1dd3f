package bench

import (
	"os"
	"syscall"
)

// peak gives the most memory that a process that ended had resident, in MB.
func peak(p *os.ProcessState) float64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return float64(u.Maxrss) / 1024
	}
	return 0
}
