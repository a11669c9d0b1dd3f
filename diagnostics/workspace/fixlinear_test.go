package workspace_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
	"mem/internal/cputime"
)

// findings gives a memory directory in which each of n lines of one file, made by
// format from their numbers, has a finding.
func findings(file, format string) func(n int) map[string]string {
	return func(n int) map[string]string {
		files := map[string]string{
			"MEMORY.md":    "- [one](topic_one.md) — what was decided\n- [all](all.md) — all of it\n",
			"topic_one.md": "---\nname: topic_one\ndescription: what was decided\ntype: project\n---\n\nText.\n",
			"all.md":       "---\nname: all\ndescription: all of it\ntype: project\n---\n\n",
		}
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		files[file] += b.String()
		return files
	}
}

// TestFixesAreLinear: to mend four times as many findings in one file takes about four
// times as long, where what is quadratic takes sixteen times.
func TestFixesAreLinear(t *testing.T) {
	const most = 8.0
	for _, c := range []struct {
		name  string
		files func(int) map[string]string
		small int
	}{
		{"names", findings("all.md", "See [[topic_onf]] %d.\n"), 2_500},
		{"links", findings("all.md", "See [it](topic_onf.md) %d.\n\n"), 2_500},
		{"links of one line", findings("all.md", "See [it](topic_onf.md) %d. "), 2_500},
		{"definitions", findings("all.md", "[it%d]: topic_onf.md\n"), 2_500},
		{"links to files that are missing", findings("all.md", "See [it](missing-%d.md).\n"), 1_000},
		{"entries without a file", findings("MEMORY.md", "- [it](missing-%d.md)\n"), 1_000},
		{"entries of one topic", findings("MEMORY.md", "- [it %d](topic_one.md)\n"), 2_500},
		{"long entries", findings("MEMORY.md", "- [it %d](topic_one.md) — "+strings.Repeat("many words ", 20)+"\n"), 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			few, many := c.files(c.small), c.files(4*c.small)
			cputime.Linear(t, 6, most,
				func() time.Duration { return mending(t, few, c.small) },
				func() time.Duration { return mending(t, many, 4*c.small) })
		})
	}
}

// mending gives the processor time that it takes to read a directory and mend all that can be.
func mending(t *testing.T, files map[string]string, atLeast int) time.Duration {
	t.Helper()
	src := source(files)
	var f *diagnostics.Fixed
	var err error
	took := cputime.Of(t, func() {
		var v *memdir.View
		if v, err = memdir.Read(context.Background(), src, memdir.NewCacheOf(64<<20), memdir.Limits{}); err != nil {
			return
		}
		s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: now}, nil)
		f, err = workspace.NewEngine(nil).FixAll(context.Background(), s, diagnostics.FixOptions{Unsafe: true, Accept: workspace.NoNewSecrets(nil)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Applied) < atLeast {
		t.Fatalf("only %d of %d were mended: %v", len(f.Applied), atLeast, f.Refused[:min(len(f.Refused), 3)])
	}
	return took
}
