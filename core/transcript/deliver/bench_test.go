package deliver

import (
	"bytes"
	"context"
	"testing"

	"mem/core/transcript/transcripttest"
)

// BenchmarkDeliver hands over the newest page of 10 MB that are read already.
func BenchmarkDeliver(b *testing.B) {
	var data bytes.Buffer
	if _, err := transcripttest.Write(&data, transcripttest.Options{Seed: 1, Bytes: 10e6, Noise: 0.5}); err != nil {
		b.Fatal(err)
	}
	tr, c := read(b, data.Bytes())
	for name, o := range map[string]Options{
		"messages": {ToolResults: true, Redact: scanner(b)}, "brief": {Format: Brief, ToolResults: true, Redact: scanner(b)},
		"open": {ToolResults: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Deliver(context.Background(), bytes.NewReader(data.Bytes()), tr, c, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
