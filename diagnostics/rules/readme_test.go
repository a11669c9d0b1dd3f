package rules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/diagnostics/rules"
)

// TestReadme holds the table of rules in the README against the rules.
func TestReadme(t *testing.T) {
	const file, begin, end = "../../README.md", "<!-- rules:begin -->\n", "<!-- rules:end -->\n"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(src), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table of rules", file)
	}
	var b strings.Builder
	b.WriteString("\n| rule | severity | what it finds | fixes |\n|---|---|---|---|\n")
	for _, r := range rules.All() {
		var ways []string
		for _, id := range r.Fixes {
			way := "`" + id + "`"
			if f := fixOf(id); f != nil && !f.Safe {
				way += "\\*"
			}
			ways = append(ways, way)
		}
		fmt.Fprintf(&b, "| [`%[1]s`](docs/rules/%[1]s.md) | %[2]s | %[3]s | %[4]s |\n", r.ID, r.Severity, strings.TrimSuffix(r.Summary, "."), strings.Join(ways, ", "))
	}
	b.WriteString("\n")
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(src)); diff != "" {
		t.Errorf("the table of rules is out of date; run make update (-want +got):\n%s", diff)
	}
}
