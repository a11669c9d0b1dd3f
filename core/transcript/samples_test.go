package transcript

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSamples reads the transcripts below MEM_SAMPLES, which a real client
// wrote. A problem is only there where the file name says so below.
func TestSamples(t *testing.T) {
	root := os.Getenv("MEM_SAMPLES")
	if root == "" {
		t.Skip("MEM_SAMPLES names no folder of transcripts")
	}
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".jsonl") {
			return err
		}
		seen++
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		tr, err := Read(context.Background(), f, st.Size(), Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		c := tr.Chain(UUID{})
		t.Logf("%s: %d lines, problems %q, %s %s, coverage %+v, rejoined %v preserved %v bridged %v", filepath.Base(p), tr.Lines, tr.Problems,
			c.By, c.Leaf, c.Coverage, c.Rejoined, c.Preserved, c.Bridged)
		for m, err := range Load(context.Background(), f, tr, c.Rows) {
			if err != nil {
				t.Error(err)
			}
			t.Log(m.Line, m.Type, m.Subtype, m.UUID[:8])
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatalf("%d transcripts below %s, %v", seen, root, err)
	}
}
