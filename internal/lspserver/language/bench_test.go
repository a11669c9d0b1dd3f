package language_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/internal/lspserver/language"
)

// large gives a memory of so many topics with an index of as many lines, its files
// known to the caches as they are while an editor is open.
func large(b testing.TB, topics int) *diagnostics.Snapshot {
	files := fstest.MapFS{}
	var index strings.Builder
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range topics {
		fmt.Fprintf(&index, "- [Topic %d](topic-%d.md) — what the topic with the number %d is about, in the usual length\n", i, i, i)
		body := fmt.Sprintf("---\nname: topic-%d\ndescription: What topic %d says\ntype: project\n---\n\nSee [[topic-%d]] and [another](topic-%d.md).\n\n%s",
			i, i, (i+1)%topics, (i+2)%topics, strings.Repeat("A line of text as topics have it.\n", 50))
		files[fmt.Sprintf("topic-%d.md", i)] = &fstest.MapFile{Data: []byte(body), Mode: 0o644, ModTime: at.Add(time.Duration(i) * time.Minute)}
	}
	files["MEMORY.md"] = &fstest.MapFile{Data: []byte(index.String()), Mode: 0o644, ModTime: at}
	v, err := memdir.Read(context.Background(), files, nil, memdir.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: at}, nil)
	for _, p := range s.Paths() {
		s.Links(p)
	}
	return s
}

// at gives a file and the offset behind a string in it.
func at(b testing.TB, s *diagnostics.Snapshot, p, behind string) (*diagnostics.Doc, int) {
	d, err := s.Doc(p)
	if err != nil {
		b.Fatal(err)
	}
	i := strings.Index(d.Source(), behind)
	if i < 0 {
		b.Fatalf("%s has no %q", p, behind)
	}
	return d, i + len(behind)
}

// BenchmarkPlaces measures each method with 200 topics and an index of 200 lines; a
// Doc is made for each question, as the server does. Definition and completion may
// take 0.5 ms.
func BenchmarkPlaces(b *testing.B) {
	s := large(b, 200)
	for _, c := range []struct {
		name, path, behind string
		ask                func(*diagnostics.Doc, int)
	}{
		{"definition/link", "MEMORY.md", "(topic-150", func(d *diagnostics.Doc, at int) { language.Definition(s, d, at) }},
		{"definition/name", "topic-7.md", "[[topic", func(d *diagnostics.Doc, at int) { language.Definition(s, d, at) }},
		{"completion/target", "MEMORY.md", "](", func(d *diagnostics.Doc, at int) { language.Complete(s, d, at) }},
		{"completion/name", "topic-7.md", "[[", func(d *diagnostics.Doc, at int) { language.Complete(s, d, at) }},
		{"completion/type", "topic-7.md", "type:", func(d *diagnostics.Doc, at int) { language.Complete(s, d, at) }},
		{"hover/topic", "MEMORY.md", "(topic-150", func(d *diagnostics.Doc, at int) { language.Hover(s, d, at) }},
		{"hover/budget", "MEMORY.md", ") — what", func(d *diagnostics.Doc, at int) { language.Hover(s, d, at) }},
		{"references", "topic-7.md", "name:", func(d *diagnostics.Doc, at int) { language.References(s, d, at, true) }},
		{"links", "MEMORY.md", "", func(d *diagnostics.Doc, _ int) { language.DocumentLinks(s, d) }},
		{"symbols", "MEMORY.md", "", func(d *diagnostics.Doc, _ int) { language.Symbols(d) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, offset := at(b, s, c.path, c.behind)
			b.ReportAllocs()
			for b.Loop() {
				d, err := s.Doc(c.path)
				if err != nil {
					b.Fatal(err)
				}
				c.ask(d, offset)
			}
		})
	}
}
