package cli_test

import (
	"strings"
	"testing"

	"mem/core/dream"
	"mem/core/memory"
	"mem/internal/cli"
	"mem/internal/term"
)

// TestDreamThatIsStoppedByTheLock: who asked for it and got none is told so by the exit code,
// too; for what runs by itself a closed gate is no failure.
func TestDreamThatIsStoppedByTheLock(t *testing.T) {
	m := newMachine(t)
	m.must("Text.", "write", "a", "--body-file", "-", "--description", "about a", "--type", "project")
	mem, err := memory.Open(memory.Options{Env: m.env})
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close() //nolint:errcheck // a test
	held, err := dream.Of(mem).Lock().Take("", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
	}{{"dream", cli.ExitError}, {"dream --json", cli.ExitError}, {"dream --auto", cli.ExitOK}, {"dream --scheduled --json", cli.ExitOK}} {
		out, errOut, code := m.run(term.Streams{}, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, "gate") || strings.Contains(errOut, "a dream is under way") != (code != 0) {
			t.Errorf("%s: exit code %d: %s%s", c.args, code, out, errOut)
		}
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	if out, errOut, code := m.run(term.Streams{}, "dream"); code != cli.ExitOK {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}
