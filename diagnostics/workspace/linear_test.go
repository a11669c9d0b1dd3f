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
	"mem/internal/cputime"
)

// TestChecksAreLinear: four times the topics, or the lines of an index, take about
// four times as long, where what is quadratic takes sixteen times.
func TestChecksAreLinear(t *testing.T) {
	const most = 8.0
	for _, c := range []struct {
		name  string
		files func(int) map[string]string
		small int
	}{{"topics", corpus.Files, 1_000}, {"lines of an index", corpus.IndexFiles, 2_500}} {
		t.Run(c.name, func(t *testing.T) {
			few, many := source(c.files(c.small)), source(c.files(4*c.small))
			cputime.Linear(t, 6, most,
				func() time.Duration { return checking(t, few) },
				func() time.Duration { return checking(t, many) })
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

// checking gives the processor time that it takes to read a directory and check it, without
// the search for secrets.
func checking(t *testing.T, src fstest.MapFS) time.Duration {
	t.Helper()
	var r *diagnostics.Result
	var err error
	took := cputime.Of(t, func() {
		var v *memdir.View
		if v, err = memdir.Read(context.Background(), src, memdir.NewCacheOf(64<<20), memdir.Limits{}); err != nil {
			return
		}
		s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: now}, nil)
		r, err = workspace.NewEngine(nil).Check(context.Background(), s, diagnostics.Scope{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Files != len(src) || len(r.Findings) == 0 {
		t.Fatalf("%d of %d files were checked, %d findings", r.Files, len(src), len(r.Findings))
	}
	return took
}
