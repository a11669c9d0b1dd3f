// Package e2e drives the mem-mcp binary as its users do: over its standard
// streams, from many processes, and with the MCP clients that people run. The
// scripts in clients are those clients; scripts/node-clients.sh installs what
// they need.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// requireEnv set to "all" makes a failure of what cannot be tested here.
const requireEnv = "MEM_REQUIRE"

// binary is the mem-mcp under test.
var binary string

// untested collects what need found missing.
var untested struct {
	sync.Mutex
	lines []string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mem-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mem-mcp")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, "mem/cmd/mem-mcp").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building mem-mcp: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if n := len(untested.lines); n > 0 {
		fmt.Fprintf(os.Stderr, "e2e: NOT TESTED (%d):\n  %s\n", n, strings.Join(untested.lines, "\n  "))
	}
	return code
}

// need skips a test, loudly, where what it needs is missing; with
// MEM_REQUIRE=all it fails. why is nil where everything is there.
func need(t *testing.T, what string, why error) {
	t.Helper()
	if why == nil {
		return
	}
	line := fmt.Sprintf("%s: needs %s: %v", t.Name(), what, why)
	if os.Getenv(requireEnv) == "all" {
		t.Fatalf("%s (%s=all)", line, requireEnv)
	}
	untested.Lock()
	untested.lines = append(untested.lines, line)
	untested.Unlock()
	t.Skip(line)
}
