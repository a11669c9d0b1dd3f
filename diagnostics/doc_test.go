package diagnostics

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mem/core/memfile"
)

// A body is looked through for links only where it may hold one; what is found is
// what memfile finds in every body.
func TestDocLinks(t *testing.T) {
	piece := rapid.SampledFrom([]string{"[a](b.md)", "[[a]]", "[", "]", "(", ")", "[[", "]]", "a", "b.md", "|", "\\", "`", "\n", "---\n", "<!--", "-->", "!", " "})
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		src := ""
		for _, s := range rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces") {
			src += s
		}
		f := memfile.Parse(src)
		got := newDoc("t.md", Topic, time.Time{}, f).Links()
		want := memfile.Links(f.Text, f.Body, f.Outline())
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", src, got, want)
		}
		found += len(got)
	})
	if found == 0 {
		t.Error("no link was ever found")
	}
}
