package fences

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNothingIsSkippedInSilence: what a test needs, and what becomes of it where that is
// missing, goes through internal/need, which tells it at the end of make test and makes a
// failure of it in CI. Steps of a rapid test that do not apply are another thing.
func TestNothingIsSkippedInSilence(t *testing.T) {
	// Of internal/lspserver one is left, which is to become a test of e2e.
	// A report, which is no test, has a method of this name.
	known := map[string]int{"internal/lspserver/shared_file_test.go": 1, "diagnostics/report/report_test.go": 1}
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		name := d.Name()
		switch {
		case d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "third_party" || rel == "internal/need"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, pos := range skips(f) {
			if known[rel] > 0 {
				known[rel]--
				continue
			}
			t.Errorf("%s:%d skips a test by itself: let a function of internal/need do it, so that it is told", rel, set.Position(pos).Line)
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Fatalf("%d files looked at: %v", seen, err)
	}
}

// skips gives where a file calls Skip, Skipf or SkipNow of a test or a benchmark.
func skips(f *ast.File) (found []token.Pos) {
	if !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
		return nil
	}
	var look func(n ast.Node, drawn map[string]bool)
	look = func(n ast.Node, drawn map[string]bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			switch m := m.(type) {
			case *ast.FuncDecl:
				if m.Body != nil {
					look(m.Body, rapidNames(m.Type, drawn))
				}
				return false
			case *ast.FuncLit:
				look(m.Body, rapidNames(m.Type, drawn))
				return false
			case *ast.CallExpr:
				if s, ok := m.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) {
					if x, ok := s.X.(*ast.Ident); !ok || !drawn[x.Name] {
						found = append(found, m.Pos())
					}
				}
			}
			return true
		})
	}
	look(f, nil)
	return found
}

// rapidNames gives the names under which a function, or one around it, has a *rapid.T.
func rapidNames(fn *ast.FuncType, around map[string]bool) map[string]bool {
	drawn := map[string]bool{}
	maps.Copy(drawn, around)
	for _, p := range fn.Params.List {
		star, _ := p.Type.(*ast.StarExpr)
		is := false
		if star != nil {
			if s, ok := star.X.(*ast.SelectorExpr); ok {
				x, _ := s.X.(*ast.Ident)
				is = x != nil && x.Name == "rapid" && s.Sel.Name == "T"
			}
		}
		for _, name := range p.Names {
			drawn[name.Name] = is
		}
	}
	return drawn
}

func TestSkipsAreFound(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x_test.go", `package x
import "testing"
func TestA(t *testing.T) { t.Skip(); func() { t.Skipf("") }(); s.t.SkipNow() }
func (m *machine) step(t *rapid.T) { t.Skip(); t.Run("", func(t *testing.T) { t.Skip() }) }
func TestB(t *testing.T) { rapid.Check(t, func(t *rapid.T) { t.Skip(); each(func() { t.Skip() }) }); t.Skip() }
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := skips(f); len(got) != 5 {
		t.Errorf("%d were found, want 5: %v", len(got), got)
	}
}
