package language_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/internal/lspserver/language"
)

// TestAnchorsOfDestinations: where a path ends and an anchor begins is what core says,
// for what is opened and for what completion keeps.
func TestAnchorsOfDestinations(t *testing.T) {
	src := fstest.MapFS{
		"a.md":   {Data: []byte("---\nname: a\ntype: user\n---\n\n# One\n\n## Two words\n")},
		"a#b.md": {Data: []byte("# Two words\n")},
	}
	for dest, want := range map[string]string{
		"a.md#two-words":         "a.md:8",
		"a.md?plain=1#two-words": "a.md:8",
		"a.md&num;two-words":     "a.md:8",
		"a.md?plain=1":           "a.md:1",
		"a%23b.md#two-words":     "a#b.md:1",
		"a.md":                   "a.md:1",
	} {
		src["l.md"] = &fstest.MapFile{Data: []byte("See [it](" + dest + ").\n")}
		v, err := memdir.Read(t.Context(), src, nil, memdir.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{}, nil)
		d, err := s.Doc("l.md")
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(d.Source(), "it")
		to, _ := language.Definition(s, d, at)
		if len(to) != 1 {
			t.Errorf("%s leads to %v", dest, to)
			continue
		}
		got := to[0].Path + ":" + string(rune('1'+to[0].Text.LineAt(to[0].Span.Start)))
		if got != want {
			t.Errorf("%s leads to %s, want %s", dest, got, want)
		}
		items, _ := language.Complete(s, d, strings.Index(d.Source(), dest)+1)
		_, anchor, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(dest, "&num;", "\x00&num;"), "?", "\x00?"), "\x00")
		if anchor == "" {
			if _, rest, ok := strings.Cut(dest, "#"); ok {
				anchor = "#" + rest
			}
		}
		for _, it := range items {
			if !strings.HasSuffix(it.Insert, anchor) {
				t.Errorf("%s: %q is inserted, without %q", dest, it.Insert, anchor)
			}
		}
		if len(items) == 0 {
			t.Errorf("%s: nothing is offered", dest)
		}
	}
}
