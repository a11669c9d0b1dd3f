package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/recall"
)

func BenchmarkBuild200(b *testing.B)  { benchmarkBuild(b, 200) }
func BenchmarkBuild3000(b *testing.B) { benchmarkBuild(b, 3000) }

func benchmarkBuild(b *testing.B, n int) {
	docs := newCorpus(1).docs(n)
	size := 0
	for _, d := range docs {
		size += len(d.Name) + len(d.Description) + len(d.Headings) + len(d.Body)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		recall.Build(docs)
	}
}

// BenchmarkUpdate3000 changes one topic of 3,000.
func BenchmarkUpdate3000(b *testing.B) {
	c := newCorpus(1)
	docs := c.docs(3000)
	idx := recall.Build(docs)
	changed := make([]recall.Doc, 64)
	for i := range changed {
		changed[i] = c.doc(i * 40)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		n := i % len(changed)
		docs[n*40] = changed[n]
		docs[n*40].Hash = fmt.Sprint("change ", i)
		idx = idx.Update(docs)
	}
}

var benchQueries = []string{
	"deploy staging rollback",
	"database migration lock timeout",
	"certificate renewal",
	"why are the tests flaky in the nightly matrix",
	"payment refund customer",
	"goroutine leak",
}

// BenchmarkSearch3000 includes the snippets of 20 hits.
func BenchmarkSearch3000(b *testing.B) {
	idx := recall.Build(newCorpus(1).docs(3000))
	for _, q := range benchQueries {
		b.Run(strings.ReplaceAll(q, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if r := idx.Search(q, recall.Options{}); len(r.Hits) != recall.DefaultLimit || r.Corrections != nil {
					b.Fatalf("%d hits, corrections %v", len(r.Hits), r.Corrections)
				}
				times = append(times, time.Since(start))
			}
			// The mean follows whatever else the machine does.
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2]), "median-ns/op")
		})
	}
}

func BenchmarkFuzzy3000(b *testing.B) {
	idx := recall.Build(newCorpus(1).docs(3000))
	for _, q := range []string{"certifcate renewall", "databsae migartion", "goroutne", "depoly"} {
		b.Run(strings.ReplaceAll(q, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if r := idx.Search(q, recall.Options{}); r.Corrections == nil {
					b.Fatal("no correction")
				}
			}
		})
	}
}

func BenchmarkTokenize(b *testing.B) {
	text := newCorpus(1).doc(0).Body
	for name, text := range map[string]string{
		"english":  text,
		"japanese": strings.Repeat("本番環境へのデプロイは金曜日に行わない。", 40),
		"german":   strings.Repeat("Die Prüfung der Schlüssel läuft täglich über Nacht. ", 40),
	} {
		b.Run(name, func(b *testing.B) {
			var t recall.Tokenizer
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for range t.Tokens(text) {
				}
			}
		})
	}
}
