package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Readme is the text of the README, for the tests of a package two folders below it.
func Readme(t *testing.T) (file, text string) {
	t.Helper()
	file = filepath.Join("..", "..", "README.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, string(b)
}

// ReadmeCommands holds the README's table between two marks against the commands of a program, or writes it with -update. update is
// how that is done.
func ReadmeCommands(t *testing.T, root *cobra.Command, begin, end, update string) {
	t.Helper()
	file, text := Readme(t)
	before, rest, ok := strings.Cut(text, begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks %s and %s", file, begin, end)
	}
	want := "\n\n| command | what it does |\n|---|---|\n"
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			want += fmt.Sprintf("| `%s %s` | %s |\n", root.Name(), strings.ReplaceAll(c.Use, "|", `\|`), c.Short)
		}
	}
	want += "\n"
	if Updating() {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the table of commands in %s is stale (run %s); want:%s", file, update, want)
	}
}
