package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/settings"
	"mem/internal/term"
)

// The marks between which the README has the table of commands.
const (
	commandsBegin = "<!-- commands:begin -->"
	commandsEnd   = "<!-- commands:end -->"
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
		if c.Hidden || c.Name() == "help" {
			continue
		}
		want += fmt.Sprintf("| `mem-mcp %s` | %s |\n", strings.ReplaceAll(c.Use, "|", `\|`), c.Short)
	}
	want += "\n"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(before+commandsBegin+want+commandsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the table of commands in %s is stale (run go test ./internal/cli -update); want:%s", file, want)
	}
}

// TestReadmeExamples holds the configurations of clients in the README against
// the command line that they start.
func TestReadmeExamples(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	type server struct {
		Command string
		Args    []string
	}
	examples := 0
	for _, block := range strings.Split(string(b), "```json\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var c struct{ Servers, MCPServers map[string]server }
		if err := json.Unmarshal([]byte(block), &c); err != nil {
			t.Errorf("%v:\n%s", err, block)
		}
		for _, servers := range []map[string]server{c.Servers, c.MCPServers} {
			for _, s := range servers {
				examples++
				var out, errOut bytes.Buffer
				code := Run(context.Background(), settings.Env{}, term.Streams{Out: &out, Err: &errOut}, "test", append(s.Args, "--help"))
				if s.Command != "mem-mcp" || code != ExitOK {
					t.Errorf("%s %v: exit code %d: %s", s.Command, s.Args, code, errOut.String())
				}
			}
		}
	}
	if examples != 3 {
		t.Errorf("%d examples of servers were found", examples)
	}
}
