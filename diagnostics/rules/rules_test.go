package rules_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

var update = flag.Bool("update", false, "write what is found into the cases")

// TestCases runs testdata/<rule>/*.txtar: a case states all findings of the rule
// that it lies under, and what the rule's fixes leave. Package diagtest says how.
func TestCases(t *testing.T) {
	for _, rule := range rules.All() {
		t.Run(rule.ID, func(t *testing.T) {
			cases, err := filepath.Glob(filepath.Join("testdata", rule.ID, "*.txtar"))
			if err != nil || len(cases) == 0 {
				t.Fatalf("%s has no case in testdata/%s (%v)", rule.ID, rule.ID, err)
			}
			for _, file := range cases {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, rule, file) })
			}
		})
	}
}

func runCase(t *testing.T, rule diagnostics.Rule, file string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := diagtest.Parse(t, src)
	c.Late = c.Late || rule.Late
	e := c.Engine(rules.All(), fixes.All())
	s, all := c.Check(t, e)
	mine := slices.DeleteFunc(slices.Clone(all), func(f diagnostics.Finding) bool { return f.Rule != rule.ID })
	got := c.Print(mine)
	if *update {
		write(t, file, src, c, e, s, mine, got)
		return
	}
	if diff := cmp.Diff(c.Want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, want := range c.Fixed {
		got := c.Fix(t, e, s, mine, want)
		for p, before := range c.Texts() {
			if _, listed := want.Files[p]; !listed && got[p] == before {
				delete(got, p)
			}
		}
		if diff := cmp.Diff(want.Files, got); diff != "" {
			t.Errorf("files after %s=%s (-want +got):\n%s", want.Fix, want.Arg, diff)
		}
	}
}

// write puts findings and fixed files into the case. Only plain files are written
// anew: one with line ends or marks of its own is left to its author.
func write(t *testing.T, file string, src []byte, c *diagtest.Case, e *diagnostics.Engine, s *diagnostics.Snapshot, mine []diagnostics.Finding, got string) {
	a := txtar.Parse(src)
	seen := false
	for i := range a.Files {
		f := &a.Files[i]
		if f.Name == "want" {
			f.Data, seen = []byte(got), true
		}
		for _, want := range c.Fixed {
			p, ok := strings.CutPrefix(f.Name, "fixed/"+want.Name()+"/")
			marked := regexp.MustCompile(`(?m)^(crlf|bom|raw): ` + regexp.QuoteMeta(p) + `$`).Match(a.Comment)
			if after := c.Fix(t, e, s, mine, want); ok && !marked {
				f.Data = []byte(after[p])
			}
		}
	}
	if !seen {
		a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFixesSettle makes every fix of every case, one by one and all at once: what a
// fix mended is not found again, and mending twice changes nothing more.
func TestFixesSettle(t *testing.T) {
	for _, rule := range rules.All() {
		cases, _ := filepath.Glob(filepath.Join("testdata", rule.ID, "*.txtar"))
		for _, file := range cases {
			t.Run(rule.ID+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				src, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				c := diagtest.Parse(t, src)
				e := c.Engine(rules.All(), fixes.All())
				for _, unsafe := range []bool{false, true} {
					settle(t, c, e, diagnostics.FixOptions{Unsafe: unsafe})
					settle(t, c, e, diagnostics.FixOptions{Unsafe: unsafe, Rules: []string{rule.ID}})
				}
			})
		}
	}
}

// TestOffersCanBeMade makes every offer of every case alone: an offer that
// cannot be taken is none.
func TestOffersCanBeMade(t *testing.T) {
	ctx := context.Background()
	made := map[string]bool{}
	for _, rule := range rules.All() {
		cases, _ := filepath.Glob(filepath.Join("testdata", rule.ID, "*.txtar"))
		for _, file := range cases {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := diagtest.Parse(t, src)
			c.Late = c.Late || rule.Late
			e := c.Engine(rules.All(), fixes.All())
			s, found := c.Check(t, e)
			for _, f := range found {
				for _, o := range f.Offers {
					made[o.Fix] = true
					if e.Fix(o.Fix).Command != "" {
						continue // which servers do
					}
					if o.Fix == fixes.SlugName && filepath.Base(file) == "taken.txtar" {
						continue // whose rule sees one file, and not the names of others
					}
					if ch, err := e.Make(ctx, s, f, o); err != nil || ch.Empty() {
						t.Errorf("%s: %s in %s offers %q: %v, %d files", file, f.Rule, f.Path, o.Title, err, len(ch.Files))
					}
				}
			}
		}
	}
	for _, f := range fixes.All() {
		if !made[f.ID] {
			t.Errorf("no case offers %s", f.ID)
		}
	}
}

func settle(t *testing.T, c *diagtest.Case, e *diagnostics.Engine, o diagnostics.FixOptions) {
	t.Helper()
	ctx := context.Background()
	s := c.Snapshot(t, e, c.Files)
	done, err := e.FixAll(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if done.Passes > 6 {
		t.Errorf("%+v: %d passes", o, done.Passes)
	}
	after, err := done.Change.Apply(c.Texts())
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for p, txt := range after {
		at := c.Stamp.Now
		if f := c.Files[p]; f != nil {
			at = f.ModTime
		}
		files[p] = &fstest.MapFile{Data: []byte(txt), Mode: 0o644, ModTime: at}
	}
	again, err := e.FixAll(ctx, c.Snapshot(t, e, files), o)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Change.Empty() {
		t.Errorf("%+v: mending again still changes: %+v\nfirst: %+v", o, again.Applied, done.Applied)
	}
	refused := map[string]bool{}
	for _, r := range again.Refused {
		refused[fmt.Sprint(r.Rule, r.Path, r.Line)] = true
	}
	for _, f := range again.Left {
		if refused[fmt.Sprint(f.Rule, f.Path, f.Text.LineAt(f.Span.Start)+1)] {
			continue
		}
		for _, offer := range f.Offers {
			if fix := e.Fix(offer.Fix); !fix.Manual && (fix.Safe || o.Unsafe) {
				t.Errorf("%+v: %s in %s is left, and could be mended by %s", o, f.Rule, f.Path, offer.Fix)
			}
		}
	}
}
