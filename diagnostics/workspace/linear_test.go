package workspace_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
	"mem/internal/bench/corpus"
)

// TestChecksAreLinear: four times the topics, or the lines of an index, take about
// four times as long, where what is quadratic takes sixteen times. Other programs of
// the machine disturb a measurement, but hardly all of several.
func TestChecksAreLinear(t *testing.T) {
	const most = 8.0
	for _, c := range []struct {
		name  string
		files func(int) map[string]string
		small int
	}{{"topics", corpus.Files, 1_000}, {"lines of an index", corpus.IndexFiles, 2_500}} {
		t.Run(c.name, func(t *testing.T) {
			few, many := source(c.files(c.small)), source(c.files(4*c.small))
			var quick, slow time.Duration
			for round := range 6 {
				quick, slow = least(quick, took(t, few)), least(slow, took(t, many))
				if ratio := float64(slow) / float64(quick); ratio < most {
					t.Logf("%v and %v: %.1f times as long, round %d", quick, slow, ratio, round+1)
					return
				}
			}
			t.Errorf("%d %s are checked in %v, %d in %v: %.1f times as long, want less than %.0f", c.small, c.name, quick, 4*c.small, slow, float64(slow)/float64(quick), most)
		})
	}
}

func source(files map[string]string) fstest.MapFS {
	src := fstest.MapFS{}
	for p, content := range files {
		src[p] = &fstest.MapFile{Data: []byte(content), ModTime: now.AddDate(0, -1, 0)}
	}
	return src
}

// least gives the lesser of two times; 0 is none.
func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// took gives how long it takes to read a directory and check it, without the search
// for secrets.
func took(t *testing.T, src fstest.MapFS) time.Duration {
	began := time.Now()
	v, err := memdir.Read(context.Background(), src, memdir.NewCacheOf(64<<20), memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: now}, nil)
	r, err := workspace.NewEngine(nil).Check(context.Background(), s, diagnostics.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Files != len(src) || len(r.Findings) == 0 {
		t.Fatalf("%d of %d files were checked, %d findings", r.Files, len(src), len(r.Findings))
	}
	return time.Since(began)
}
