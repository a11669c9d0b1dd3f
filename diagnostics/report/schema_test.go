package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"mem/diagnostics"
	"mem/diagnostics/report"
	"mem/diagnostics/rules"
	"mem/internal/need"
)

// The module that holds the official schema of SARIF 2.1.0 (with errata 01) as a
// constant. It is not one of our own dependencies: only this file of it is read.
const (
	schemaModule = "github.com/owenrumney/go-sarif/v3@v3.3.1"
	schemaSum    = "h1:bKY8YnWcY8zYTiGVObC5wZLlfEvMkCxK9XMGXBbzEtQ="
	schemaFile   = "pkg/report/v210/sarif/schema.go"
)

// officialSchema gets the schema from the module cache, or into it.
func officialSchema(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", schemaModule)
	cmd.Dir = t.TempDir() // outside of our own module
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); err != nil || jsonErr != nil || module.Dir == "" {
		need.That(t, "the official schema of SARIF", fmt.Errorf("go mod download %s: %v %s", schemaModule, err, module.Error))
	}
	if module.Sum != schemaSum {
		t.Fatalf("%s has the sum %s, want %s", schemaModule, module.Sum, schemaSum)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(module.Dir, schemaFile), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var src string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "schema" {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				src, err = strconv.Unquote(lit.Value)
			}
		}
		return true
	})
	if err != nil || src == "" {
		t.Fatalf("%s has no schema: %v", schemaFile, err)
	}
	return src
}

// TestSchema validates what we write against the official schema: all shapes of
// findings, nothing at all, and the rules as they are.
func TestSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat = true // uri-reference and the like
	if err := c.AddResource("mem:///sarif.json", strings.NewReader(officialSchema(t))); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mem:///sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(log []byte) error {
		d := json.NewDecoder(bytes.NewReader(log))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for name, r := range map[string]*report.Report{"sample": sample(t), "empty": report.New()} {
		for _, tool := range []report.Tool{{}, {Version: "dev", Rules: rules.All(), Page: func(string) string { return "# Page\n" }}, {Version: "v1.2.3", Rules: []diagnostics.Rule{}}} {
			var b bytes.Buffer
			if err := report.SARIF(&b, r, tool); err != nil {
				t.Fatal(err)
			}
			if err := validate(b.Bytes()); err != nil {
				t.Errorf("%s with %d rules: %v\n%s", name, len(tool.Rules), err, b.String())
			}
		}
	}
	// What mem-lsp check says of a folder, and of a team's snapshot, in which much is wrong.
	for _, name := range []string{"sample.sarif", "snapshot.sarif"} {
		log, err := os.ReadFile(filepath.Join("..", "..", "internal", "lspcli", "testdata", "golden", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(log); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// That the check can fail.
	var b bytes.Buffer
	if err := report.SARIF(&b, sample(t), report.Tool{}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][2]string{{`"startLine": 3`, `"startLine": 0`}, {`"ruleId"`, `"rule"`}, {`"2.1.0"`, `"2.0"`}, {`"uri": "`, `"uri": "%zz`}} {
		if validate(bytes.Replace(b.Bytes(), []byte(bad[0]), []byte(bad[1]), 1)) == nil {
			t.Errorf("with %s for %s it is still valid", bad[1], bad[0])
		}
	}
}
