package memdir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/memfile"
)

// manyTopics writes n topics of about 2 KB and their index, as old files.
func manyTopics(b *testing.B, n int) *os.Root {
	b.Helper()
	dir := b.TempDir()
	body := strings.Repeat("**Why:** the tests run against a real server, see [[topic-1]].\n\n", 32)
	old := time.Now().Add(-time.Hour)
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	for i := range n {
		name := fmt.Sprintf("topic-%d", i)
		p := filepath.Join(dir, name+".md")
		m := memfile.Meta{Name: name, Description: "What to know about part " + name + " before changing it", Type: memfile.Types[i%4], OriginSessionID: "0ad3f13d-311c-482e-ae28-cee069c09e6c"}
		if err := os.WriteFile(p, []byte(memfile.New(memfile.FormNested, m, body)), 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(p, old, old); err != nil {
			b.Fatal(err)
		}
		index.WriteString(memfile.EntryLine(name, name+".md", m.Description) + "\n")
	}
	p := filepath.Join(dir, memfile.IndexName)
	if err := os.WriteFile(p, []byte(index.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.Chtimes(p, old, old); err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	return root
}

func benchmarkView(b *testing.B, n int) {
	root := manyTopics(b, n)
	run := func(b *testing.B, cache func() *Cache) {
		b.ReportAllocs()
		for b.Loop() {
			v, err := Read(context.Background(), Disk(root), cache(), Limits{})
			if err != nil || len(v.Topics) != n {
				b.Fatal(len(v.Topics), err)
			}
		}
	}
	b.Run("cold", func(b *testing.B) { run(b, NewCache) })
	warm := NewCache()
	b.Run("warm", func(b *testing.B) { run(b, func() *Cache { return warm }) })
}

func BenchmarkView200(b *testing.B)   { benchmarkView(b, 200) }
func BenchmarkView10000(b *testing.B) { benchmarkView(b, 10_000) }

func BenchmarkLoadIndex(b *testing.B) {
	x := memfile.ParseIndex(numbered(200, 120))
	b.ReportAllocs()
	for b.Loop() {
		Load(x, SeedRule())
	}
}
