package transcript

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestSamples reads the transcripts below MEM_SAMPLES, which a real client
// wrote. A problem is only there where the file name says so below.
func TestSamples(t *testing.T) {
	root := os.Getenv("MEM_SAMPLES")
	need.Asked(t, root != "", "MEM_SAMPLES names no folder of transcripts")
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

// TestSamplesResume replays what the client did: each prompt that follows a
// dequeue was sent by a client that had loaded the file up to there, so its
// parent is the resume point of that part of the file.
func TestSamplesResume(t *testing.T) {
	root := os.Getenv("MEM_SAMPLES")
	need.Asked(t, root != "", "MEM_SAMPLES names no folder of transcripts")
	files, err := filepath.Glob(filepath.Join(root, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	resumed := 0
	for _, p := range files {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		whole := readString(t, string(data), Options{})
		lines := strings.SplitAfter(string(data), "\n")
		for _, r := range whole.Rows.All() {
			if !r.Flags.Has(FlagPrompt) || r.Parent.IsZero() || r.Line < 2 || !strings.Contains(lines[r.Line-2], `"dequeue"`) {
				continue
			}
			before := readString(t, string(data[:r.Offset]), Options{})
			if got := before.Chain(UUID{}).ResumePoint(before); got != r.Parent {
				t.Errorf("%s line %d hangs on %s, not on %s", filepath.Base(p), r.Line, r.Parent, got)
			}
			resumed++
		}
	}
	t.Logf("%d prompts after a resume", resumed)
	if resumed == 0 {
		t.Error("no prompt after a resume")
	}
}
