package lspcli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/term"
)

// The marks between which the README has the table of commands.
const (
	commandsBegin = "<!-- lsp-commands:begin -->"
	commandsEnd   = "<!-- lsp-commands:end -->"
)

// TestReadmeCommands holds the README's table against the commands.
func TestReadmeCommands(t *testing.T) {
	file := filepath.Join("..", "..", "README.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), commandsBegin)
	have, after, ok2 := strings.Cut(rest, commandsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks %s and %s", file, commandsBegin, commandsEnd)
	}
	want := "\n\n| command | what it does |\n|---|---|\n"
	for _, c := range (&app{}).root().Commands() {
		if !c.Hidden && c.Name() != "help" {
			want += fmt.Sprintf("| `mem-lsp %s` | %s |\n", c.Use, c.Short)
		}
	}
	want += "\n"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(before+commandsBegin+want+commandsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the table of commands in %s is stale (run make update); want:%s", file, want)
	}
}

// TestReadmeExamples runs what the README says with --help: that the commands and
// their flags are there.
func TestReadmeExamples(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for line := range strings.Lines(string(b)) {
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
