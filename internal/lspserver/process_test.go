package lspserver

import (
	"testing"
)

// The server works on real pipes as on those of a test.
func TestProcess(t *testing.T) {
	e, cmd := startProcess(t, t.TempDir(), map[string]string{"MEMORY.md": "# M\n"})
	e.initialize(capable)
	e.open("MEMORY.md", bom+"# M\n")
	if found := e.shown("MEMORY.md", 1); !has("encoding")(found) {
		t.Errorf("found %q", codes(found))
	}
	if err := e.quit(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	e, cmd = startProcess(t, t.TempDir(), nil)
	e.initialize(capable)
	e.notify("exit", "null")
	e.result()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("without shutdown the exit code is %d", code)
	}
}
