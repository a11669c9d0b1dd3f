package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
)

// library makes a directory with many topics, as a long-lived project has.
func library(b *testing.B, topics int) *Store {
	b.Helper()
	base := b.TempDir()
	s, err := New(Options{Directory: filepath.Join(base, "memory"), StateDir: filepath.Join(base, "state"), Actor: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := os.MkdirAll(s.Directory(), 0o755); err != nil {
		b.Fatal(err)
	}
	var index strings.Builder
	for i := range topics {
		m := memory(fmt.Sprintf("topic-%d", i), strings.Repeat("What somebody found out and wrote down for later.\n", 36))
		meta := memfile.Meta{Name: m.Name, Description: m.Description, Type: m.Type}
		if err := os.WriteFile(filepath.Join(s.Directory(), m.Name+".md"), []byte(memfile.New(memfile.FormFlat, meta, m.Body)), 0o644); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&index, "- [%s](%s.md) — %s\n", m.Name, m.Name, strings.Repeat("summary ", 9))
	}
	if err := os.WriteFile(filepath.Join(s.Directory(), memfile.IndexName), []byte(index.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	time.Sleep(2 * fresh)
	return s
}

// measure runs op beside one write, fsync and rename of a topic, and reports the
// quotient of their medians. What cleanUp does is not measured.
func measure(b *testing.B, s *Store, op, cleanUp func(i int)) {
	b.Helper()
	content := []byte(strings.Repeat("What somebody found out and wrote down for later.\n", 40))
	var base, ours []time.Duration
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		plainWrite(b, s.Directory(), content)
		half := time.Now()
		op(i)
		base, ours = append(base, half.Sub(start)), append(ours, time.Since(half))
		cleanUp(i)
	}
	slices.Sort(base)
	slices.Sort(ours)
	b.ReportMetric(float64(ours[len(ours)/2])/float64(base[len(base)/2]), "x-plain-write")
	b.ReportMetric(float64(ours[len(ours)/2])/1e3, "µs-median")
	b.ReportMetric(float64(base[len(base)/2])/1e3, "µs-plain-write")
}

func plainWrite(b *testing.B, dir string, content []byte) {
	p := filepath.Join(dir, "plain.txt")
	f, err := os.Create(p + ".tmp")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(p+".tmp", p); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDurableEdit changes a line of a topic.
func BenchmarkDurableEdit(b *testing.B) {
	s := library(b, 200)
	measure(b, s, func(i int) {
		body, err := s.Load("topic-7.md")
		if err != nil {
			b.Fatal(err)
		}
		v, err := s.View(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		c, err := memdir.Edit("topic-7.md", body.File.Text.String(), memdir.EditOf{Key: "description", Value: fmt.Sprintf("edit %d", i)}, v.Form(), stamp)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Apply(b.Context(), c, How{}); err != nil {
			b.Fatal(err)
		}
	}, func(int) {})
}

// BenchmarkDurableWrite adds a topic and its entry to a directory of 200.
func BenchmarkDurableWrite(b *testing.B) {
	s := library(b, 200)
	body := strings.Repeat("What somebody found out and wrote down for later.\n", 36)
	measure(b, s, func(i int) {
		v, err := s.View(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		m := memory(fmt.Sprintf("new-%d", i), body)
		c, err := v.Create(fmt.Sprintf("new-%d.md", i), m, stamp)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Apply(b.Context(), c, How{}); err != nil {
			b.Fatal(err)
		}
	}, func(int) {
		if _, err := s.Undo(b.Context(), s.journal.lastID(), How{}); err != nil {
			b.Fatal(err)
		}
		rest()
		if _, err := s.View(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
}
