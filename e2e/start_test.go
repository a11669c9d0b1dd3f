package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What packages may allocate before main runs, in bytes. Times differ from run to run, but these do not, and what takes
// long there allocates: a library that compiled schemas took 1.7 MB and half of the time until a server answered. The
// largest are 139 KB (a table of HTML entities) and, of our own, 15 KB.
const (
	maxInit    = 192 << 10 // one package
	maxOurInit = 24 << 10  // one package of this module
	maxAllInit = 1 << 20   // together: 745 KB in mem-mcp, 565 KB in mem-lsp
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)

// TestNothingIsMadeBeforeMain: programs that a client starts, and hooks that run at each turn, pay for what packages
// make when the process starts, needed or not.
func TestNothingIsMadeBeforeMain(t *testing.T) {
	for _, program := range []string{binary, languageServer} {
		cmd := exec.Command(program, "version")
		home := t.TempDir()
		cmd.Dir = home
		cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot")}
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s version: %v\n%s", program, err, trace.String())
		}
		found := initLine.FindAllStringSubmatch(trace.String(), -1)
		if len(found) < 50 {
			t.Fatalf("%s tells of %d packages only:\n%s", program, len(found), trace.String())
		}
		total := 0
		for _, f := range found {
			n, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(err)
			}
			total += n
			limit := maxInit
			if strings.HasPrefix(f[1], "mem/") {
				limit = maxOurInit
			}
			if n > limit {
				t.Errorf("%s: the package %s allocates %d bytes when the program starts, more than %d. Make it where it is first needed: sync.OnceValue", program, f[1], n, limit)
			}
		}
		if total > maxAllInit {
			t.Errorf("%s: its packages allocate %d bytes when it starts, more than %d", program, total, maxAllInit)
		}
	}
}
