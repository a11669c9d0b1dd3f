package diagnostics

import (
	"testing"

	"pgregory.net/rapid"

	"mem/core/change"
	"mem/core/text"
)

// What a round admits can be made: edits of one change and of several, in any order.
func TestWhatAPassAdmitsIsMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.StringMatching(`[a-f]{0,8}`).Draw(t, "base")
		p := pass{files: map[string]*pending{}}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			var edits []text.Edit
			for range rapid.IntRange(1, 3).Draw(t, "edits") {
				start := rapid.IntRange(-1, len(base)+1).Draw(t, "start")
				edits = append(edits, text.Edit{Span: text.Span{Start: start, End: start + rapid.IntRange(-1, 3).Draw(t, "len")}, New: rapid.StringMatching(`[X-Z]?`).Draw(t, "new")})
			}
			added := p.add(change.Change{Files: []change.File{{Path: "a.md", Kind: change.Edit, Base: base, Edits: edits}}})
			if _, ok := text.Apply(base, edits); !ok && added && !fits(base, inOrder(edits)) {
				t.Fatalf("%v of %q are admitted", edits, base)
			}
			if f := p.files["a.md"]; f != nil {
				if _, ok := f.after(); !ok {
					t.Fatalf("%v of %q do not fit together", f.edits, base)
				}
			}
		}
	})
}

func TestPassOrdersEdits(t *testing.T) {
	at := func(start, end int, s string) []text.Edit {
		return []text.Edit{{Span: text.Span{Start: start, End: end}, New: s}}
	}
	for _, c := range []struct {
		name  string
		edits [][]text.Edit
		added []bool
		want  string
	}{
		{"an insertion after the removal that starts there", [][]text.Edit{at(2, 4, ""), at(2, 2, "X")}, []bool{true, true}, "abXef"},
		{"an insertion before it", [][]text.Edit{at(2, 2, "X"), at(2, 4, "")}, []bool{true, true}, "abXef"},
		{"two insertions and a replacement", [][]text.Edit{at(2, 2, "X"), at(2, 3, "C"), at(2, 2, "Y")}, []bool{true, true, true}, "abXYCdef"},
		{"at the end of a removal", [][]text.Edit{at(0, 2, ""), at(2, 2, "X")}, []bool{true, true}, "Xcdef"},
		{"inside of a removal", [][]text.Edit{at(0, 3, ""), at(2, 2, "X")}, []bool{true, false}, "def"},
		{"around an insertion", [][]text.Edit{at(2, 2, "X"), at(0, 3, "")}, []bool{true, false}, "abXcdef"},
		{"the same twice", [][]text.Edit{at(1, 2, "B"), at(1, 2, "B")}, []bool{true, false}, "aBcdef"},
		{"a long one over several", [][]text.Edit{at(1, 2, ""), at(4, 5, ""), at(0, 6, "")}, []bool{true, true, false}, "acdf"},
		{"outside of the file", [][]text.Edit{at(5, 7, ""), at(0, 1, "")}, []bool{false, true}, "bcdef"},
	} {
		p := pass{files: map[string]*pending{}}
		for i, e := range c.edits {
			if got := p.add(change.Change{Files: []change.File{{Path: "a.md", Kind: change.Edit, Base: "abcdef", Edits: e}}}); got != c.added[i] {
				t.Errorf("%s: edit %d: added %v", c.name, i, got)
			}
		}
		if got, ok := p.files["a.md"].after(); !ok || got != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, ok, c.want)
		}
	}
}
