package command

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheCommandDiesWithUs: when the process that runs a command is killed, the command is
// gone.
func TestTheCommandDiesWithUs(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envRunner+"=echo $$; exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	// A zombie that nobody waits for has no environment.
	alive := func() bool {
		env, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(line), "environ"))
		return err == nil && len(env) > 0
	}
	if !alive() {
		t.Fatalf("there is no process %q", line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for end := time.Now().Add(2 * time.Second); alive(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %s lives on", strings.TrimSpace(line))
		}
	}
}
