package tools

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

var update = flag.Bool("update", false, "rewrite golden files")

// maxDescription is where clients cut descriptions, in characters (observed on
// Claude Code 2.1.332).
const maxDescription = 4096

// TestDefinitions holds every tool against its snapshot, so that no change of
// what agents see happens unnoticed.
func TestDefinitions(t *testing.T) {
	names := map[string]bool{}
	for _, set := range Toolsets() {
		for _, s := range set.specs {
			t.Run(s.name, func(t *testing.T) {
				if names[s.name] {
					t.Errorf("two tools have this name")
				}
				names[s.name] = true
				d := s.definition()
				got, err := json.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, got, "", "  "); err != nil {
					t.Fatal(err)
				}
				pretty.WriteByte('\n')
				golden(t, filepath.Join("testdata", "snapshots", s.name+".json"), pretty.Bytes())
				if len(d.Description) > maxDescription {
					t.Errorf("the description has %d characters; clients cut at %d", len(d.Description), maxDescription)
				}
				checkHints(t, d, s)
				compiles(t, s.name+" input", d.RawInputSchema)
				compiles(t, s.name+" output", d.RawOutputSchema)
				compiles(t, s.name+" results", s.out.object())
			})
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test ./tools -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is stale (run go test ./tools -update):\n%s", file, diff)
	}
}

func checkHints(t *testing.T, d mcp.Tool, s spec) {
	t.Helper()
	a := d.Annotations
	if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
		t.Error("a hint is missing")
	}
	if s.readOnly && s.destructive {
		t.Error("read-only and destructive exclude each other")
	}
}

// compiles fails for a schema that is none, or that is read in another way than the
// specification says.
func compiles(t *testing.T, name string, schema json.RawMessage) {
	t.Helper()
	reference(t, name, schema)
	if _, err := newShape(schema); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// reference compiles a schema with a library that knows all of JSON Schema.
func reference(t *testing.T, name string, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("mem:///s.json", bytes.NewReader(schema)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}
