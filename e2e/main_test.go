// Package e2e drives the binaries as their users do: over their standard streams,
// from many processes, and with the MCP clients and editors that people run. The
// scripts in clients and editors are those; scripts/node-clients.sh and
// scripts/editors.sh install what they need.
package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// binary is the mem-mcp under test, languageServer the mem-lsp.
var binary, languageServer string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mem-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	binary, languageServer = filepath.Join(dir, "mem-mcp"+suffix), filepath.Join(dir, "mem-lsp"+suffix)
	if out, err := exec.Command("go", "build", "-o", dir, "mem/cmd/...").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building mem-mcp and mem-lsp: %v\n%s", err, out)
		return 1
	}
	if err := watchSources(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if left := append(running(binary), running(languageServer)...); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "e2e: servers were left behind: %s\n", strings.Join(left, ", "))
		code = 1
	}
	return code
}

// watchSources looks at every file that the server and the clients are made of,
// so that go test runs again, and does not take a result from its cache, when
// one of them has changed.
func watchSources() error {
	return filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // somebody is editing
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case d.Type().IsRegular():
			os.Stat(path)
		}
		return nil
	})
}

// running gives the processes that run a program, where the system can tell.
func running(program string) (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == program {
			found = append(found, filepath.Base(filepath.Dir(link)))
		}
	}
	return found
}
