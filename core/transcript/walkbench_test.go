package transcript

import (
	"bytes"
	"testing"

	"mem/core/transcript/transcripttest"
)

func BenchmarkWalk(b *testing.B) {
	var buf bytes.Buffer
	if _, err := transcripttest.Write(&buf, transcripttest.Options{Seed: 1, Bytes: 4e6, Noise: 0.5}); err != nil {
		b.Fatal(err)
	}
	var lines [][]byte
	n := 0
	for line := range bytes.Lines(buf.Bytes()) {
		line = line[:len(line)-1]
		if noiseType(line) == nil {
			lines = append(lines, line)
			n += len(line)
		}
	}
	w := newWalker()
	b.SetBytes(int64(n))
	for b.Loop() {
		for _, l := range lines {
			if w.walk(l) != isRecord {
				b.Fatal("no record")
			}
		}
	}
}
