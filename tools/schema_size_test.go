package tools

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/server"
)

// TestTheListOfToolsIsShort: agents pay for it at the start of each session. The bounds
// are what it has plus a little; what a new tool needs is added to them by whoever adds it.
func TestTheListOfToolsIsShort(t *testing.T) {
	for _, set := range Toolsets() {
		most := map[string]int{"memory": 37_000, "transcripts": 12_000, "proposals": 11_400, "snapshots": 12_500, "jobs": 11_500, "dream": 13_000}[set.Name]
		n := 0
		for _, s := range set.specs {
			b, err := json.Marshal(server.ServerTool{Tool: s.definition()}.Tool)
			if err != nil {
				t.Fatal(err)
			}
			n += len(b)
		}
		if n > most {
			t.Errorf("the tools of %s take %d bytes in tools/list, want at most %d", set.Name, n, most)
		}
		t.Logf("%s: %d bytes", set.Name, n)
	}
}

// TestWhatClientsAreTold: what is told of results holds for errors, too, and demands nothing.
func TestWhatClientsAreTold(t *testing.T) {
	for _, set := range Toolsets() {
		for _, s := range set.specs {
			var told struct {
				Type       string
				Properties map[string]struct{ Type string }
				Required   []string
			}
			if err := json.Unmarshal(s.definition().RawOutputSchema, &told); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if told.Type != "object" || told.Properties["error"].Type != "string" || len(told.Required) > 0 {
				t.Errorf("%s: %+v", s.name, told)
			}
			for _, p := range s.out {
				if _, ok := told.Properties[p.name]; !ok {
					t.Errorf("%s: nothing is told of %s", s.name, p.name)
				}
			}
			// An error is held against the same schema by some clients.
			for name, kind := range map[string]string{"error": "string", "kind": "string", "path": "string", "hash": "string", "text": "string", "textIsCut": "boolean", "near": "array", "conflicts": "array", "findings": "array"} {
				if p, ok := told.Properties[name]; ok && p.Type != kind {
					t.Errorf("%s: %s is %q in a result, %q in an error", s.name, name, p.Type, kind)
				}
			}
		}
	}
}
