package job

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// processStart is "machine:boot:namespace:ticks since boot".
func processStart(pid int) string {
	ticks, ok := startTicks(pid)
	if !ok {
		return ""
	}
	return here() + ":" + ticks
}

// here is the machine, its boot and the namespace that pids are counted in.
var here = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" where it is hidden
	ns, _ := os.Readlink("/proc/self/ns/pid")                 // such as pid:[4026531836]
	ns = strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]")
	return machine() + ":" + string(bytes.TrimSpace(boot)) + ":" + ns
})

func look(pid int, start string) life {
	if pid <= 0 {
		return dead
	}
	ticks, ok := startTicks(pid)
	if start == "" {
		if ok {
			return alive
		}
		return dead
	}
	their, own := strings.Split(start, ":"), strings.Split(here(), ":")
	if len(their) != len(own)+1 {
		return dead // another system wrote it, or garbage
	}
	sameMachine, sameBoot := their[0] == own[0], their[1] == own[1]
	switch {
	case !sameMachine && !sameBoot, sameBoot && their[2] != own[2]:
		return unseen
	case !sameBoot:
		return dead // the machine was started anew since
	case ok && ticks == their[3]:
		return alive
	}
	return dead
}

// startTicks reads when a process was started; false when it is none, or ended and only
// waits to be collected.
func startTicks(pid int) (string, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// The name in the second field may hold anything, parentheses too.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return "", false
	}
	fields := strings.Fields(string(b[i+1:])) // from the third field on
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true // the 22nd
}
