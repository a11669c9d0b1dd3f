package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mem/core/fork"
	"mem/core/settings"
	"mem/internal/term"
)

// Every command is known to change something or not, so that a new one is thought of.
func TestInsideOfAForkedAgent(t *testing.T) {
	harmless := []string{"where", "config", "context", "list", "read", "search", "history", "sessions", "resume", "export", "stores", "proposals", "proposals show",
		"jobs", "jobs show", "job", "job run", "hook", "hooks", "hooks show", "usage", "engine", "snapshot", "snapshot status", "merge-driver", "demo", "version", "help", "dream status", "dream history", "dream schedule"}
	home := t.TempDir()
	env := settings.Env{Home: home, Cwd: home, StateDir: home, ConfigDir: home, Lookup: func(n string) (string, bool) { return "1", n == fork.EnvInside }}
	a := &app{Printer: term.NewPrinter(term.Streams{}, env), env: env}
	var walk func(c *cobra.Command, path string)
	walk = func(c *cobra.Command, path string) {
		if refused := a.refuseInside(c) != nil; refused == slices.Contains(harmless, path) || !refused && personal[path] {
			t.Errorf("%q is refused: %v; say in personal whether it changes something", path, refused)
		}
		for _, sub := range c.Commands() {
			walk(sub, strings.TrimSpace(path+" "+sub.Name()))
		}
	}
	walk(a.root(), "")
	var out, errOut strings.Builder
	if code := Run(t.Context(), env, term.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut}, "test", []string{"proposals", "apply", "x"}); code != ExitError || !strings.Contains(errOut.String(), "forked agent") {
		t.Errorf("code %d: %s", code, errOut.String())
	}
}
