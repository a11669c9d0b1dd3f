package diagnostics_test

import (
	"testing"

	"mem/core/memdir"
	"mem/diagnostics"
)

// TestIndexRules: the first reader of a profile loads the least, and all of them go
// by the configured limits.
func TestIndexRules(t *testing.T) {
	for client, want := range map[diagnostics.Client][]memdir.Unit{
		diagnostics.AnyClient:  {memdir.Bytes, memdir.UTF16},
		diagnostics.SeedClient: {memdir.Bytes},
		diagnostics.ClaudeCode: {memdir.UTF16},
	} {
		c := diagnostics.DefaultConfig()
		c.Client, c.Limits.IndexLines, c.Limits.IndexSize = client, 20, 3000
		got := c.IndexRules()
		if len(got) != len(want) {
			t.Fatalf("%s: %+v", client, got)
		}
		for i, r := range got {
			if r.Unit != want[i] || r.Lines != 20 || r.Size != 3000 {
				t.Errorf("%s: %+v", client, r)
			}
		}
	}
}
