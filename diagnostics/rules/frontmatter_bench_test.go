package rules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/rules"
	"mem/internal/cputime"
)

// checkFront runs the rules of the frontmatter over files, without what was kept of
// an earlier check, and gives the processor time of that.
func checkFront(t testing.TB, files fstest.MapFS) (took time.Duration) {
	t.Helper()
	all := slices.DeleteFunc(rules.All(), func(r diagnostics.Rule) bool { return !slices.Contains(frontRules, r.ID) })
	v, err := memdir.Read(context.Background(), files, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range v.Topics { // reading and parsing is not what is measured
		if _, err := v.Load(topic); err != nil {
			t.Fatal(err)
		}
	}
	var last time.Duration
	for _, e := range []*diagnostics.Engine{{}, {}, {Rules: all}} { // without rules it costs something, too
		s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: diagtest.Now}, nil)
		used := cputime.Of(t, func() {
			r, err := e.Check(context.Background(), s, diagnostics.Scope{})
			if err != nil || len(r.Failures) > 0 {
				t.Fatal(err, r.Failures)
			}
		})
		took, last = used-last, used
	}
	return took
}

// Frontmatter of many faults costs time in proportion to its length: ten times as
// much of it must not cost a hundred times as much.
func TestFrontmatterRulesAreLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"duplicates":   "type: user\n",
		"other keys":   "key%d: x\n",
		"conflicts":    "key%d: x\n",
		"broken":       "key%d: a: b\n",
		"comments":     "# x\n",
		"continued":    "  x\n",
		"blank":        "\n",
		"nested twice": "metadata:\n  type: x\n",
	} {
		cost := func(n int) time.Duration {
			var b strings.Builder
			b.WriteString("---\nname: t\n")
			lines := func(indent string) {
				for i := range n {
					l := piece
					if strings.Contains(piece, "%d") {
						l = fmt.Sprintf(piece, i)
					}
					b.WriteString(indent + l)
				}
			}
			lines("")
			if name == "conflicts" {
				b.WriteString("metadata:\n")
				piece = strings.Replace(piece, "x", "y", 1)
				lines("  ")
				piece = strings.Replace(piece, "y\n", "x\n", 1)
			}
			b.WriteString("---\nText.\n")
			best := time.Hour
			for range 5 {
				best = min(best, checkFront(t, fstest.MapFS{"t.md": {Data: []byte(b.String())}}))
			}
			return best
		}
		small, large := cost(500), cost(5000)
		t.Logf("%s: %v, %v", name, small, large)
		if large > 70*small && large > 200*time.Millisecond {
			t.Errorf("%s: %v for 500 lines, %v for 5,000", name, small, large)
		}
	}
}

func BenchmarkFrontmatterRules(b *testing.B) {
	for _, kind := range []string{"sound", "faulty"} {
		b.Run(kind, func(b *testing.B) {
			files := fstest.MapFS{}
			for i := range 1000 {
				head := fmt.Sprintf("---\nname: topic-%d\ndescription: What topic %d says\nmetadata: \n  node_type: memory\n  type: project\n  originSessionId: x\n---\n\n", i, i)
				if kind == "faulty" {
					head = fmt.Sprintf("---\nname: Topic_%d\ndescription: fix: topic %d\nmetadata: \n  type: semantic\n---\n\n", i, i)
				}
				files[fmt.Sprintf("topic-%d.md", i)] = &fstest.MapFile{Data: []byte(head + strings.Repeat("Some text about this and that.\n", 70))}
			}
			var took time.Duration
			for b.Loop() {
				took += checkFront(b, files)
			}
			b.ReportMetric(float64(took.Microseconds())/float64(b.N)/1000, "µs/topic")
		})
	}
}
