package killtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestMain makes this binary a process that works on the disk.
func TestMain(m *testing.M) {
	if dir := os.Getenv("KILLTEST_DIR"); dir != "" {
		err := os.WriteFile(filepath.Join(dir, "a.tmp"), []byte("hello"), 0o600)
		err = errors.Join(err, os.Rename(filepath.Join(dir, "a.tmp"), filepath.Join(dir, "a")), os.Remove(filepath.Join(dir, "a")))
		if err != nil {
			os.Exit(3)
		}
		os.Exit(7)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for at := 1; ; at++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "KILLTEST_DIR="+dir)
		d, err := Run(cmd, dir, at)
		if errors.Is(err, ErrNot) {
			need.System(t, false, "no process may be traced: "+err.Error())
		}
		if err != nil {
			t.Fatal(err)
		}
		if d.Before == "" {
			if d.Code != 7 || d.Seen != 4 {
				t.Errorf("%+v", d)
			}
			break
		}
		told = append(told, d.Before)
		b, err := os.ReadFile(filepath.Join(dir, map[bool]string{true: "a", false: "a.tmp"}[at == 4]))
		if want := map[int]string{1: "", 2: "", 3: "hello", 4: "hello"}[at]; string(b) != want || (err != nil) != (at == 1) {
			t.Errorf("killed before %s: %q, %v", d.Before, b, err)
		}
	}
	if got := strings.Join(told, ", "); got != "create a.tmp, write a.tmp, rename a, remove a" {
		t.Error(got)
	}
}
