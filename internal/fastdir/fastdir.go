// Package fastdir gives tests that do thousands of durable writes a directory in which those
// do not wait for a disk.
package fastdir

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// memory is a file system in memory that Linux has, but in some containers.
const memory = "/dev/shm"

// New gives a directory of the test, in memory where the system has such a place. Links in
// its path are resolved.
func New(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return resolved(t, t.TempDir())
	}
	dir, err := os.MkdirTemp(memory, "mem-test-")
	if err != nil {
		return resolved(t, t.TempDir())
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing %s: %v", dir, err)
		}
	})
	return resolved(t, dir)
}

func resolved(t testing.TB, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
