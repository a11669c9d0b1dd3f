package job

import (
	"fmt"
	"os"
	"path/filepath"
)

// Program is what Detach starts.
type Program struct {
	Path string
	Args []string // without the name of the program
	Env  []string // the whole environment, as "NAME=value"; nil is none
	Dir  string   // where it starts; "" is the root of the file system, which nothing holds busy
	// Log takes what it prints; "" drops it. The file begins anew. Whoever writes much
	// bounds it himself, see LogBytes.
	Log string
}

// LogBytes is how much the log of a process of ours may hold.
const LogBytes = 256 << 10

// Detach starts a program that outlives this one: in a session of its own, without
// terminal, standard input or any descriptor of ours, so that nobody who waits for our
// output waits for it. It gives its pid.
func Detach(p Program) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", p.Path, err)
	}
	defer null.Close() //nolint:errcheck // nothing was written
	out := null
	if p.Log != "" {
		if out, err = os.OpenFile(p.Log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600); err != nil {
			return 0, fmt.Errorf("starting %s: %w", p.Path, err)
		}
		defer out.Close() //nolint:errcheck // the program writes, not we
	}
	dir := p.Dir
	if dir == "" {
		dir = filepath.VolumeName(p.Path) + string(filepath.Separator)
	}
	env := p.Env
	if env == nil {
		env = []string{}
	}
	proc, err := startDetached(p.Path, append([]string{p.Path}, p.Args...), &os.ProcAttr{
		Dir: dir, Env: env, Files: []*os.File{null, out, out},
	})
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", p.Path, err)
	}
	pid = proc.Pid
	// Collected when it ends, should this process live that long.
	go func() { _, _ = proc.Wait() }()
	return pid, nil
}
