package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"mem/core/transcript/transcripttest"
)

// benchSources writes transcripts of 10 MB in all, or of as many as
// MEM_TRANSCRIPT_MB says, in several sessions.
func benchSources(b testing.TB) (sources []Source, bytes int64) {
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
	each := max(mb/10, 2)
	for i := int64(0); bytes < mb*1e6; i++ {
		path := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", i))
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		made, err := transcripttest.Write(f, transcripttest.Options{
			Seed: uint64(i), Bytes: each * 1e6, Noise: 0.8, LongLines: true, CompactEvery: max(each/5, 3) * 1e6,
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		bytes += made.Bytes
		sources = append(sources, Source{Path: path, Session: filepath.Base(path), Project: fmt.Sprint("p", i%3)})
	}
	return sources, bytes
}

// BenchmarkIndex reads transcripts that no index knows yet.
func BenchmarkIndex(b *testing.B) {
	sources, bytes := benchSources(b)
	b.SetBytes(bytes)
	var size, entries float64
	for b.Loop() {
		dir := b.TempDir()
		x, err := Open(b.Context(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		r := update(b, x, sources...)
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		st, err := os.Stat(x.Path())
		if err != nil {
			b.Fatal(err)
		}
		size, entries = float64(st.Size()), float64(r.Entries)
	}
	b.ReportMetric(100*size/float64(bytes), "%size")
	b.ReportMetric(entries, "entries")
}

// thousand are as many sessions.
func thousand(b testing.TB) (sources []Source) {
	b.Helper()
	dir := b.TempDir()
	for i := range 1000 {
		s := newSession(b, dir, fmt.Sprint("s", i))
		s.prompt(fmt.Sprint("words ", i))
		sources = append(sources, s.source("p"))
	}
	return sources
}

// BenchmarkNothingToDo updates an index of 1,000 sessions that are as they were,
// opening it included.
func BenchmarkNothingToDo(b *testing.B) {
	sources, cache := thousand(b), b.TempDir()
	x := open(b, Options{Dir: cache})
	update(b, x, sources...)
	for b.Loop() {
		x, err := Open(b.Context(), Options{Dir: cache})
		if err != nil {
			b.Fatal(err)
		}
		if r := update(b, x, sources...); r.Changed != 0 {
			b.Fatalf("%+v", r)
		}
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch runs queries of all sorts against a warm index.
func BenchmarkSearch(b *testing.B) {
	sources, _ := benchSources(b)
	x := open(b, Options{})
	update(b, x, sources...)
	queries := sortsOfQueries(b, x)
	for i := range queries {
		search(b, x, queries[i])
	}
	var took []time.Duration
	i := 0
	for b.Loop() {
		at := time.Now()
		search(b, x, queries[i%len(queries)])
		took = append(took, time.Since(at))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "ms/median")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1e3, "ms/p95")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapInuse)/1e6, "MB/heap")
}

// sortsOfQueries are queries of all sorts.
func sortsOfQueries(b testing.TB, x *Index) []Query {
	b.Helper()
	// Words of the transcripts, from the rarest to the most common ones.
	words := commonWords(b, x)
	return []Query{
		{Text: words[0]}, {Text: words[len(words)/4]}, {Text: words[len(words)/2]}, {Text: words[len(words)-1]},
		{Text: words[0] + " " + words[len(words)/2] + " " + words[len(words)-1]},
		{Text: words[1] + " " + words[2] + " " + words[3] + " " + words[4] + " " + words[5]},
		{Text: words[len(words)/3] + " " + words[len(words)/4], Project: "p1"},
		{Text: words[len(words)/3] + " " + words[len(words)/4], Roles: []Role{Prompt}},
		{Text: swap(words[len(words)/2])},
	}
}

// commonWords returns words of the index, the rarest first.
func commonWords(b testing.TB, x *Index) []string {
	b.Helper()
	rows, err := x.db.Query("SELECT text FROM word ORDER BY id LIMIT 400")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var words []string
	for rows.Next() {
		var w string
		if err := rows.Scan(&w); err != nil {
			b.Fatal(err)
		}
		if len(w) >= 5 {
			words = append(words, w)
		}
	}
	total := map[string]int{}
	for _, w := range words {
		r, err := x.Search(context.Background(), Query{Text: w, Limit: 1})
		if err != nil {
			b.Fatal(err)
		}
		total[w] = r.Total
	}
	slices.SortStableFunc(words, func(p, q string) int { return total[p] - total[q] })
	if len(words) < 12 {
		b.Fatalf("only %d words", len(words))
	}
	return words
}

// swap makes a slip in a word.
func swap(w string) string { return w[:2] + w[3:4] + w[2:3] + w[4:] }
