package transcript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"mem/core/transcript"
	"mem/core/transcript/transcripttest"
	"mem/internal/need"
)

// benchFile writes the transcript that the benchmarks read: 10 MB, or as many as
// MEM_TRANSCRIPT_MB says. It lies in a temporary folder and in the cache of the
// system.
func benchFile(b testing.TB) *transcript.File {
	b.Helper()
	mb := int64(10)
	if s := os.Getenv("MEM_TRANSCRIPT_MB"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		mb = n
	}
	dir := b.TempDir()
	if keep := os.Getenv("MEM_TRANSCRIPT_DIR"); keep != "" {
		dir = keep
	}
	path := filepath.Join(dir, "bench-"+strconv.FormatInt(mb, 10)+".jsonl")
	if _, err := os.Stat(path); err != nil {
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := transcripttest.Write(f, transcripttest.Options{
			Seed: 1, Bytes: mb * 1e6, Noise: 0.8, LongLines: true, CompactEvery: max(mb/5, 3) * 1e6,
		}); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	f, err := transcript.OpenFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	countLines(b, f) // into the cache
	return f
}

// countLines does what `wc -l` does, the way it does it: the floor that the
// others are compared with.
func countLines(b testing.TB, f *transcript.File) int {
	b.Helper()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 256<<10)
	n := 0
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if err == io.EOF {
			return n
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	f := benchFile(b)
	ctx := context.Background()
	b.Run("wc", func(b *testing.B) {
		b.SetBytes(f.Size)
		for b.Loop() {
			countLines(b, f)
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run("chain/workers="+strconv.Itoa(workers), func(b *testing.B) {
			b.SetBytes(f.Size)
			for b.Loop() {
				t, err := transcript.Read(ctx, f, f.Size, transcript.Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(t.Rows.Len()), "rows")
				b.ReportMetric(float64(len(t.Chain(transcript.UUID{}).Rows)), "onchain")
			}
		})
	}
	b.Run("strict", func(b *testing.B) {
		b.SetBytes(f.Size)
		for b.Loop() {
			if _, err := transcript.Read(ctx, f, f.Size, transcript.Options{Strict: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tail", func(b *testing.B) {
		b.SetBytes(f.Size)
		for b.Loop() {
			t, err := transcript.ReadTail(ctx, f, f.Size, transcript.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(t.Base)/float64(f.Size), "pending")
			t.Chain(transcript.UUID{})
		}
	})
	b.Run("whole", func(b *testing.B) { // what a resume does: the chain from the end, then the counts
		b.SetBytes(f.Size)
		for b.Loop() {
			t, err := transcript.ReadTail(ctx, f, f.Size, transcript.Options{})
			if err != nil {
				b.Fatal(err)
			}
			t.Chain(transcript.UUID{})
			if t, err = t.Complete(ctx); err != nil || t.Base != 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("jq", func(b *testing.B) {
		jq := need.Program(b, "jq")
		b.SetBytes(f.Size)
		for b.Loop() {
			cmd := exec.Command(jq, "-c", "[.type,.uuid,.parentUuid]", f.Name())
			if err := cmd.Run(); err != nil { // its output goes to the null device
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		need.Asked(b, f.Size <= 2e9, "NOT MEASURED: it takes minutes over 2 GB")
		b.SetBytes(f.Size)
		for b.Loop() {
			d := json.NewDecoder(io.NewSectionReader(f, 0, f.Size))
			for {
				var v struct{ Type, UUID, ParentUUID string }
				if d.Decode(&v) != nil {
					break
				}
			}
		}
	})
}
