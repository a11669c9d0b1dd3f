package workspace_test

import (
	"context"
	"fmt"
	"testing"

	"mem/core/settings"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
	"mem/internal/bench/corpus"
)

// BenchmarkCheck opens a directory and checks it, as a command does: nothing is
// known of it yet.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		dir := b.TempDir()
		if err := corpus.Write(dir, corpus.Files(n)); err != nil {
			b.Fatal(err)
		}
		home := b.TempDir()
		for _, late := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/secrets=%t", n, late), func(b *testing.B) {
				b.ReportAllocs()
				found := 0
				for b.Loop() {
					d, err := workspace.Open(dir, workspace.Options{Env: settings.Env{Home: home, Cwd: home}, BodyBytes: 64 << 20})
					if err != nil {
						b.Fatal(err)
					}
					s, err := d.Snapshot(context.Background(), nil)
					if err != nil {
						b.Fatal(err)
					}
					r, err := d.Check(context.Background(), s, diagnostics.Scope{Late: late})
					if err != nil {
						b.Fatal(err)
					}
					found = len(r.Findings)
					if err := d.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(found), "findings")
			})
		}
	}
}
