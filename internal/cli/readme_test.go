package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"mem/core/settings"
	"mem/internal/clitest"
	"mem/internal/term"
)

// The marks between which the README has the table of commands.
const (
	commandsBegin = "<!-- commands:begin -->"
	commandsEnd   = "<!-- commands:end -->"
)

// TestReadmeCommands holds the README's table against the commands.
func TestReadmeCommands(t *testing.T) {
	clitest.ReadmeCommands(t, (&app{}).root(), commandsBegin, commandsEnd, "go test ./internal/cli -update")
}

// TestReadmeExamples holds the configurations of clients in the README against
// the command line that they start.
func TestReadmeExamples(t *testing.T) {
	_, text := clitest.Readme(t)
	type server struct {
		Command string
		Args    []string
	}
	examples := 0
	for _, block := range strings.Split(text, "```json\n")[1:] {
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
