// Package clitest is what the tests of both command lines share: a home of a test's own, golden files, the tables of the
// README, and what scripts are run with (package testscript). Only tests import it.
package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/settings"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Updating reports whether -update was given: what is generated is then to be written, not compared.
func Updating() bool { return *update }

// Now is the time at which tests begin.
func Now() time.Time { return time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC) }

// Machine is a home, a working directory and a clock of a test's own.
type Machine struct {
	Root string            // what all of it lies below, without links in it
	Env  settings.Env      // of a Linux on which it is Now
	Vars map[string]string // the environment that Env looks up
}

// NewMachine makes a Machine whose working directory has the given name.
func NewMachine(t *testing.T, cwd string) *Machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &Machine{Root: root, Vars: map[string]string{"MEM_SESSION_ID": "test-session"}}
	m.Env = settings.Env{
		Lookup:          func(k string) (string, bool) { v, ok := m.Vars[k]; return v, ok },
		Home:            filepath.Join(root, "home"),
		Cwd:             filepath.Join(root, cwd),
		GOOS:            "linux",
		Now:             Now,
		ConfigDir:       filepath.Join(root, "config"),
		StateDir:        filepath.Join(root, "state"),
		CacheDir:        filepath.Join(root, "cache"),
		ManagedSettings: filepath.Join(root, "policy.json"),
	}
	for _, dir := range []string{m.Env.Home, m.Env.Cwd} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// Golden compares with a file in testdata/golden, or writes that with -update.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; if it is meant, write it with -update (-want +got)\n%s", file, d)
	}
}
