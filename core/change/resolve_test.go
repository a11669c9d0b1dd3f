package change

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestResolveDecides: each choice about a conflict does what it says, and what was decided
// is no conflict with the base that Advance gives.
func TestResolveDecides(t *testing.T) {
	base := "## A\n\nOne.\n\n## B\n\nTwo.\n"
	ours := "## A\n\nOurs.\n\n## B\n\nTwo.\n"
	theirs := "## A\n\nTheirs.\n\n## B\n\nTwo, more.\n"
	for choice, want := range map[Choice]string{
		Merged: "## A\n\nOurs.\n\n## B\n\nTwo, more.\n",
		Ours:   "## A\n\nOurs.\n\n## B\n\nTwo, more.\n",
		Theirs: "## A\n\nTheirs.\n\n## B\n\nTwo, more.\n",
		Both:   "## A\n\nOurs.\n\nTheirs.\n\n## B\n\nTwo, more.\n",
	} {
		got, open := Resolve("x.md", base, ours, theirs, func(p Part) Decision {
			if !p.Conflict {
				return Decision{}
			}
			return Decision{Choice: choice}
		})
		if got != want || (len(open) == 1) != (choice == Merged) {
			t.Errorf("%q: %q, %d open", choice, got, len(open))
		}
	}
	held := Advance("x.md", base, theirs, func(p Part) bool { return p.Name != `the section "A"` })
	if held != "## A\n\nOne.\n\n## B\n\nTwo, more.\n" {
		t.Errorf("advanced to %q", held)
	}
	// Who kept both took theirs.
	if got, open := Resolve("x.md", base, "## A\n\nOurs.\n\nTheirs.\n\n## B\n\nTwo.\n", theirs, nil); len(open) > 0 || !strings.Contains(got, "Two, more.") {
		t.Errorf("%q, %v", got, open)
	}
}

// TestResolveIsMerge: without decisions Resolve gives what Merge gives wherever that has no
// conflict, and Advance that takes all gives the later text.
func TestResolveIsMerge(t *testing.T) {
	line := rapid.SampledFrom([]string{"one", "two", "three", "four", "## A", "## B", "", "- [x](x.md) — x", "- [y](y.md) — y"})
	doc := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n") + "\n"
	})
	rapid.Check(t, func(t *rapid.T) {
		base, ours, theirs := doc.Draw(t, "base"), doc.Draw(t, "ours"), doc.Draw(t, "theirs")
		want, conflicts := Merge("x.md", base, ours, theirs)
		got, open := Resolve("x.md", base, ours, theirs, nil)
		if len(conflicts) == 0 && (got != want || len(open) > 0) {
			t.Fatalf("Merge gives %q, Resolve %q and %v", want, got, open)
		}
		if all := Advance("x.md", base, theirs, func(Part) bool { return true }); all != theirs {
			t.Fatalf("advanced to %q, not %q", all, theirs)
		}
	})
}
