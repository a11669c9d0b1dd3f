package diagnostics

import (
	"context"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

func TestPathsAreDocs(t *testing.T) {
	src := fstest.MapFS{}
	for _, p := range []string{"MEMORY.md", "a.md", "b/c.md", "logs/2025/12/2025-12-31.md", "logs/2026/01/2026-01-01.md", "logs/2026/01/2026-01-03.md", "logs/2026/11/2026-11-30.md"} {
		src[p] = &fstest.MapFile{Data: []byte("[x](" + p + ")\n")}
	}
	v, err := memdir.Read(context.Background(), src, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSnapshot(v, nil, nil, memdir.Stamp{}, nil)
	if got := s.Paths(); len(got) != len(src) {
		t.Fatalf("%q", got)
	}
	for _, p := range s.Paths() {
		d, err := s.Doc(p)
		if err != nil || d.Path != p {
			t.Errorf("%s: %v", p, err)
		}
		if k, ok := s.Kind(p); !ok || k != d.Kind {
			t.Errorf("%s is said to be %v, %v", p, k, ok)
		}
		if l := s.Links(p); len(l) != 1 || l[0].Path() != p {
			t.Errorf("%s: %+v", p, l)
		}
	}
	for _, p := range []string{"logs/2026/01/2026-01-02.md", "logs/2027/01/2027-01-01.md", "logs/2024/01/2024-01-01.md", "logs/x.md", "c.md", "", "README.md"} {
		if _, err := s.Doc(p); err == nil {
			t.Errorf("%q is said to be there", p)
		}
		if _, ok := s.Kind(p); ok {
			t.Errorf("%q is said to be of a kind", p)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, c := range []struct{ from, link, want string }{
		{"MEMORY.md", "[a](b/c.md#x)", "b/c.md"},
		{"b/c.md", "[a](../d.md)", "d.md"},
		{"b/c.md", "[a](d.md)", "b/d.md"},
		{"b/c.md", "[a](../../d.md)", "../d.md"},
		{"MEMORY.md", "[a](https://example.org/d.md)", ""},
		{"MEMORY.md", "[[d]]", ""},
	} {
		tx := text.New(c.link)
		l := memfile.Links(tx, text.Span{End: tx.Len()}, memfile.Outline{})[0]
		if got := Target(c.from, l); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.link, c.from, got, c.want)
		}
	}
}
