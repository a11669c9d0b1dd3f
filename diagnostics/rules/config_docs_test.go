package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/diagnostics"
	"mem/diagnostics/rules"
)

// TestConfigSchemaIsCurrent holds docs/mem.schema.json against the rules and limits.
func TestConfigSchemaIsCurrent(t *testing.T) {
	want, err := diagnostics.ConfigSchema(rules.All())
	if err != nil {
		t.Fatal(err)
	}
	current(t, "mem.schema.json", func(string) string { return string(want) })
}

// TestConfigLimitsAreDocumented holds the table in docs/formats.md against the limits.
func TestConfigLimitsAreDocumented(t *testing.T) {
	const begin, end = "<!-- limits:begin -->\n", "<!-- limits:end -->\n"
	current(t, "formats.md", func(have string) string {
		before, rest, ok := strings.Cut(have, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("the marks %q and %q are missing", begin, end)
		}
		return before + begin + diagnostics.ConfigLimitTable() + end + after
	})
}

// current compares a file below docs with what it should be.
func current(t *testing.T, name string, want func(have string) string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", name)
	have, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	now := want(string(have))
	if *update {
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(now, string(have)); d != "" {
		t.Errorf("%s is stale, run go test ./diagnostics/rules -run Config -update (-want +got):\n%s", file, d)
	}
}
