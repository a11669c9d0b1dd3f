package lspcli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"mem/internal/clitest"
	"mem/internal/term"
)

// The marks between which the README has the table of commands.
const (
	commandsBegin = "<!-- lsp-commands:begin -->"
	commandsEnd   = "<!-- lsp-commands:end -->"
)

// TestReadmeCommands holds the README's table against the commands.
func TestReadmeCommands(t *testing.T) {
	clitest.ReadmeCommands(t, (&app{}).root(), commandsBegin, commandsEnd, "make update")
}

// TestReadmeExamples runs what the README says with --help: that the commands and
// their flags are there.
func TestReadmeExamples(t *testing.T) {
	_, text := clitest.Readme(t)
	examples := 0
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		args := strings.Fields(line)
		if len(args) < 2 || args[0] != "mem-lsp" {
			continue
		}
		examples++
		var out, errOut bytes.Buffer
		if code := Run(context.Background(), Options{Streams: term.Streams{Out: &out, Err: &errOut}}, append(args[1:], "--help")); code != ExitOK {
			t.Errorf("%s: exit code %d: %s", line, code, errOut.String())
		}
	}
	if examples != 4 {
		t.Errorf("%d examples were found", examples)
	}
}
