package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The marks between which the README has the table of tools.
const (
	tableBegin = "<!-- tools:begin -->"
	tableEnd   = "<!-- tools:end -->"
)

// TestReadmeTable holds the README's table against the tools.
func TestReadmeTable(t *testing.T) {
	file := filepath.Join("..", "README.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks %s and %s", file, tableBegin, tableEnd)
	}
	golden(t, file, []byte(before+tableBegin+"\n"+table()+tableEnd+after))
}

// table gives all tools, each with what it does, its arguments (required ones
// first and bold) and what a client is told of its effect.
func table() string {
	var b strings.Builder
	for _, set := range Toolsets() {
		fmt.Fprintf(&b, "\n**%s** — %s\n\n| tool | what it does | arguments | effect |\n|---|---|---|---|\n", set.Name, set.Doc)
		for _, s := range set.specs {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.name, firstSentence(s.description), arguments(s.in), effect(s))
		}
	}
	return b.String() + "\n"
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		s = s[:i]
	}
	return strings.ReplaceAll(strings.TrimSuffix(s, "."), "|", `\|`)
}

func arguments(s schema) string {
	var required, optional []string
	for _, p := range s {
		switch {
		case p.name == "store": // every tool has it, and it has one value so far
		case p.required:
			required = append(required, "**"+p.name+"**")
		default:
			optional = append(optional, p.name)
		}
	}
	return strings.Join(append(required, optional...), ", ")
}

func effect(s spec) string {
	switch {
	case s.readOnly:
		return "reads"
	case s.destructive:
		return "writes, may remove"
	}
	return "writes"
}
