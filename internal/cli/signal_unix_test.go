//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A demo that is interrupted leaves neither a process nor a file behind.
func TestDemoSignals(t *testing.T) {
	for _, l := range []struct {
		sig syscall.Signal
		all bool // as a terminal does: the programs that the demo started get it, too
	}{{syscall.SIGINT, false}, {syscall.SIGTERM, false}, {syscall.SIGHUP, false}, {syscall.SIGINT, true}} {
		t.Run(fmt.Sprintf("%v, all %v", l.sig, l.all), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			tmp := filepath.Join(m.root, "tmp")
			if err := os.Mkdir(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			var errOut bytes.Buffer
			cmd := exec.Command("mem-mcp", "demo")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.env.Home, "TMPDIR=" + tmp}
			cmd.Dir, cmd.Stderr = m.env.Cwd, &errOut
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "3/") {
					pid := cmd.Process.Pid
					if l.all {
						time.Sleep(20 * time.Millisecond) // into the step, which waits for a server
						pid = -pid
					}
					if err := syscall.Kill(pid, l.sig); err != nil {
						t.Error(err)
					}
				}
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("it ended with %v: %s", err, errOut.String())
			}
			if !strings.Contains(errOut.String(), "stopped before its end") {
				t.Errorf("it said: %s", errOut.String())
			}
			if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			// Where the system shows it: no process works in the scratch directory.
			links, _ := filepath.Glob("/proc/[0-9]*/cwd")
			for _, l := range links {
				if dir, err := os.Readlink(l); err == nil && strings.HasPrefix(dir, tmp) {
					t.Errorf("a process is left: %s in %s", l, dir)
				}
			}
		})
	}
}
