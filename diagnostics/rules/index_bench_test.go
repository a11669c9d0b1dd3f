package rules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mem/core/memfile"
	"mem/diagnostics"
)

// BenchmarkIndexRules runs the seven rules about the index over one in which each
// line has something wrong: an entry that is too long and leads where another one
// leads, with details below each tenth one.
func BenchmarkIndexRules(b *testing.B) {
	for _, lines := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			var src strings.Builder
			for i := range lines {
				switch {
				case i%100 == 0:
					fmt.Fprintf(&src, "## Section %d\n", i)
				case i%10 == 0:
					src.WriteString("  - a detail of what stands above\n")
				default:
					fmt.Fprintf(&src, "- [Topic %d](topic-%d.md) — what there is to know of it, %s\n", i, i%(lines/2), strings.Repeat("and more, ", 12))
				}
			}
			e := indexEngine()
			snapshots := make([]*diagnostics.Snapshot, 8)
			for i := range snapshots { // what is kept of one is of no use to the next
				snapshots[i] = snapshotOf(b, map[string]string{memfile.IndexName: src.String()}, nil)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				s := snapshots[i%len(snapshots)]
				s = diagnostics.NewSnapshot(s.View, nil, nil, s.Stamp, nil)
				r, err := e.Check(context.Background(), s, diagnostics.Scope{Paths: []string{memfile.IndexName}})
				if err != nil || len(r.Findings) < lines {
					b.Fatal(err, len(r.Findings))
				}
			}
		})
	}
}
