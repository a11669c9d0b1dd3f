package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgainstBash runs the scripts with bash and the tools of this machine, where they
// are GNU's.
func TestAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		untested(t, "there is no bash to compare scripts with")
	}
	if out, err := exec.Command(bash, "-c", "grep --version; find --version; sed --version; date --version").Output(); err != nil || strings.Count(string(out), "GNU") < 4 {
		untested(t, "the tools to compare scripts with are not GNU's")
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

// untested skips a test and has make test say at its end what it could not test.
func untested(t *testing.T, why string) {
	t.Helper()
	if name := os.Getenv("MEM_UNTESTED"); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(f, "%s: %s\n", t.Name(), why)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip("NOT TESTED: " + why)
}
