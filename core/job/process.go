package job

import (
	"fmt"
	"hash/fnv"
	"os"
	"sync"
)

// life is what we know of a process.
type life int

const (
	dead life = iota
	alive
	unseen // it is, or was, where we cannot look: in another container, on another machine
)

// Alive reports whether a process lives: one with this pid that was started at this
// moment, as ProcessStart gave it; "" takes any. One that runs in another container or on
// another machine counts as alive, since nobody here can tell.
func Alive(pid int, start string) bool { return look(pid, start) != dead }

// ProcessStart tells a process from a later one with the same pid: when it was started,
// and on which machine. It is "" when there is no such process, or no way to know. The
// text means something only to Alive.
func ProcessStart(pid int) string {
	if pid <= 0 {
		return ""
	}
	return processStart(pid)
}

// machine tells this machine from others that share a home with it, without naming it.
var machine = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return "-"
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
})
