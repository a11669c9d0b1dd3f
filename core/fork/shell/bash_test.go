package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestAgainstBash runs the scripts with bash and the tools of this machine, where they
// are GNU's.
func TestAgainstBash(t *testing.T) {
	bash := need.Program(t, "bash")
	if out, err := exec.Command(bash, "-c", "grep --version; find --version; sed --version; date --version").Output(); err != nil || strings.Count(string(out), "GNU") < 4 {
		need.That(t, "GNU's grep, find, sed and date to compare scripts with", fmt.Errorf("these are others: %v", err))
	}
	dir := filepath.Join(t.TempDir(), "memory")
	for name, f := range testFiles().MapFS {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, f.ModTime, f.ModTime); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range scripts {
		if c.differs != "" {
			continue
		}
		cmd := exec.Command(bash, "-c", strings.ReplaceAll(c.script, "/memory", dir))
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}
		out, _ := cmd.CombinedOutput()
		if got := strings.ReplaceAll(string(out), dir, "/memory"); got != c.want {
			t.Errorf("%s\nbash gives %q\nours       %q", c.script, got, c.want)
		}
	}
}
