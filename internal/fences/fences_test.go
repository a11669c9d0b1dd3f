// Package fences holds the test that keeps the layers of docs/architecture.md.
package fences

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The heights of the layers. A package imports only packages of its own height
// or below it; siblings at one height import each other where the code of
// checkFile says so.
const (
	noLayer = iota
	texts   // the documentation, embedded: imports nothing of ours
	core
	rules
	protocol
	wiring
	mains
)

// layers gives every folder of the module a height.
var layers = []struct {
	prefix string
	height int
}{
	{"cmd/", mains},
	{"e2e", mains},
	{"internal/", wiring},
	{"tools", protocol},
	{"resources", protocol},
	{"diagnostics", rules},
	{"core/", core},
	{"docs", texts},
}

// heights orders the packages of core: each imports only what stands before it.
var heights = []string{
	"core/text", "core/rawjson", "core/atomicfile", "core/memfile", "core/change", "core/project", "core/settings", "core/guard", "core/recall",
	"core/memdir", "core/store", "core/transcript", "core/transcript/index", "core/transcript/shown", "core/transcript/deliver", "core/transcript/export",
	"core/sessionmem", "core/memory", "core/sessions", "core/model", "core/model/wire", "core/model/anthropic", "core/model/openai",
	"core/spend", "core/job", "core/inherit", "core/fork", "core/fork/shell", "core/fork/gate", "core/fork/stage",
	"core/fork/command", "core/proposal", "core/engine", "core/work", "core/sessionmem/update", "core/extract", "core/dream",
	"core/agentmem", "core/hook",
}

// protocols are imports that core and diagnostics may not have.
var protocols = []string{"github.com/mark3labs/mcp-go", "go.lsp.dev/", "github.com/spf13/cobra"}

func height(pkg string) int {
	for _, l := range layers {
		if pkg == strings.TrimSuffix(l.prefix, "/") || strings.HasPrefix(pkg, l.prefix) {
			return l.height
		}
	}
	return noLayer
}

func rank(pkg string) int {
	for i, p := range heights {
		if p == pkg {
			return i
		}
	}
	return -1
}

func TestImportsPointDown(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && p != root {
			return filepath.SkipDir // a module of its own
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		seen++
		checkFile(t, p, path.Dir(filepath.ToSlash(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d files were looked at", seen)
	}
}

func checkFile(t *testing.T, file, pkg string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	if height(pkg) == noLayer {
		t.Errorf("%s lies in no layer; add it to the table and to docs/architecture.md", pkg)
	}
	for _, imp := range f.Imports {
		name, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if height(pkg) <= rules {
			for _, banned := range protocols {
				if strings.HasPrefix(name, banned) {
					t.Errorf("%s imports %s: neither core nor diagnostics knows a protocol or a command line", file, name)
				}
			}
		}
		ours, ok := strings.CutPrefix(name, "mem/")
		if !ok {
			continue
		}
		switch from, to := height(pkg), height(ours); {
		case to > from:
			t.Errorf("%s imports %s, which lies above it", file, name)
		case from == core && (rank(pkg) < 0 || rank(ours) < 0):
			t.Errorf("%s imports %s: one of them has no place in the order of core", file, name)
		case from == core && rank(ours) >= rank(pkg):
			t.Errorf("%s imports %s, which stands after it in core", file, name)
		case from == protocol && to == protocol, from == texts:
			t.Errorf("%s imports its sibling %s; what both need belongs in core", file, name)
		}
	}
}

// TestThePageNamesEveryPackage compares docs/architecture.md with the order of core: each
// package that exists has a row, in that order, and no row is of one that does not.
func TestThePageNamesEveryPackage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.SplitSeq(string(page), "\n") {
		cell, ok := strings.CutPrefix(line, "| `core/")
		if !ok {
			continue
		}
		cell, _, _ = strings.Cut(cell, " |")
		for name := range strings.SplitSeq("`core/"+cell, ", ") {
			rows = append(rows, strings.Trim(name, "`"))
		}
	}
	var want []string
	for _, p := range heights {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(p))); err == nil {
			want = append(want, p)
		}
	}
	last := -1
	for _, p := range rows {
		switch i := slices.Index(want, p); {
		case i < 0 && !strings.HasSuffix(p, "test"):
			t.Errorf("docs/architecture.md has a row of %s, which does not exist or has no place in the order of core", p)
		case i >= 0 && i < last:
			t.Errorf("docs/architecture.md names %s after what stands behind it in core", p)
		case i >= 0:
			last = i
		}
	}
	for _, p := range want {
		if !slices.Contains(rows, p) {
			t.Errorf("docs/architecture.md has no row of %s", p)
		}
	}
}

// TestServerOfEditorsIsSmall keeps out of mem-lsp what only mem-mcp needs, and what
// costs every start of a process: editors start it, and wait.
func TestServerOfEditorsIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "mem/cmd/mem-lsp").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "mem/diagnostics") {
		t.Fatalf("mem-lsp does not link what it is made of: %v", deps)
	}
	for _, d := range deps {
		if d == "github.com/zricethezav/gitleaks/v8/detect" { // docs/architecture.md says what it costs
			t.Errorf("mem-lsp links %s", d)
		}
		for _, banned := range []string{"github.com/mark3labs/mcp-go", "mem/internal/cli", "mem/internal/mcpserver", "mem/internal/demo", "mem/tools", "mem/resources", "modernc.org/sqlite"} {
			if d == banned || strings.HasPrefix(d, banned+"/") {
				t.Errorf("mem-lsp links %s", d)
			}
		}
	}
}

// TestNothingIsHalfMerged looks for marks of a merge conflict in what people read.
func TestNothingIsHalfMerged(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".md") && !strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, ".sh"):
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		seen++
		if i := strings.Index("\n"+string(b), "\n<<<<<"+"<< "); i >= 0 && !strings.Contains(p, filepath.Join("docs", "rules")) {
			t.Errorf("%s holds the marks of a merge conflict", p)
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files looked at: %v", seen, err)
	}
}
