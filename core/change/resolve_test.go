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

// TestResolveKeepsTheBlankLine: whatever becomes of a conflict in a section that ended the
// topic on one side, what follows it on the other stands behind a blank line.
func TestResolveKeepsTheBlankLine(t *testing.T) {
	const base = "## A\n\nOne.\n"
	for _, eol := range []string{"\n", "\r\n"} {
		for _, end := range []string{"", eol} {
			conv := func(s string) string { return strings.ReplaceAll(s, "\n", eol) }
			short := strings.TrimSuffix(conv("## A\n\nShort.\n"), eol) + end
			long := conv("## A\n\nLong.\n\n## B\n\nTwo.\n")
			for _, sides := range [][2]string{{short, long}, {long, short}} {
				for _, choice := range []Choice{Merged, Ours, Theirs, Both, Instead} {
					got, _ := Resolve("x.md", conv(base), sides[0], sides[1], func(p Part) Decision {
						if !p.Conflict {
							return Decision{}
						}
						return Decision{Choice: choice, Text: conv("## A\n\n>>>>>>> theirs\n")}
					})
					if !strings.Contains(got, conv("\n\n## B\n\nTwo.")) || strings.Contains(got, conv("\n\n\n")) {
						t.Errorf("%q of %q and %q: %q", choice, sides[0], sides[1], got)
					}
				}
			}
		}
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
