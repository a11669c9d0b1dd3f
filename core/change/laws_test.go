package change

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/memfile"
	"mem/core/text"
)

// drawEdits draws edits of src that do not overlap.
func drawEdits(t *rapid.T, src string) []text.Edit {
	cuts := rapid.SliceOfN(rapid.IntRange(0, len(src)), 0, 6).Draw(t, "cuts")
	slices.Sort(cuts)
	var edits []text.Edit
	for i := 0; i+1 < len(cuts); i += 2 {
		edits = append(edits, text.Edit{Span: text.Span{Start: cuts[i], End: cuts[i+1]}, New: piece(t, "new")})
	}
	return edits
}

// drawChange draws a change of some of the files.
func drawChange(t *rapid.T, files map[string]string) Change {
	c := Change{Title: "some"}
	for i, p := range slices.Sorted(maps.Keys(files)) {
		src := files[p]
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			c.Files = append(c.Files, File{Path: p, Kind: Edit, Base: src, Edits: drawEdits(t, src)})
		case 1:
			c.Files = append(c.Files, File{Path: p, Kind: Delete, Base: src})
		case 2:
			c.Files = append(c.Files, File{Path: p, Kind: Rename, To: fmt.Sprintf("to%d.md", i), Base: src, Edits: drawEdits(t, src)})
		case 3:
			c.Files = append(c.Files, File{Path: fmt.Sprintf("new%d.md", i), Kind: Create, New: piece(t, "content")})
		}
	}
	return c
}

func TestInvertLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := map[string]string{"a.md": piece(t, "a"), "b.md": piece(t, "b"), "MEMORY.md": piece(t, "index")}
		c := drawChange(t, files)
		after, err := c.Apply(files)
		if err != nil {
			t.Fatal(err)
		}
		inv, ok := c.Invert()
		if !ok {
			t.Fatal("it has no inverse")
		}
		back, err := inv.Apply(after)
		if err != nil || !maps.Equal(back, files) {
			t.Fatalf("the inverse gives %q, %v, want %q", back, err, files)
		}
		twice, ok := inv.Invert()
		if !ok {
			t.Fatal("the inverse has no inverse")
		}
		again, err := twice.Apply(files)
		if err != nil || !maps.Equal(again, after) {
			t.Fatalf("the inverse of the inverse gives %q, %v, want %q", again, err, after)
		}
		if len(twice.Files) != len(c.Files) {
			t.Fatalf("%d parts became %d", len(c.Files), len(twice.Files))
		}
		for i, f := range c.Files {
			g := twice.Files[i]
			if f.Path != g.Path || f.Kind != g.Kind || f.To != g.To || f.Base != g.Base || f.New != g.New {
				t.Fatalf("%+v became %+v", f, g)
			}
		}
	})
}

// drawIndex draws an index of entries and text lines that are all different.
func drawIndex(t *rapid.T) []string {
	lines := []string{"# Memory", ""}
	for i := range rapid.IntRange(0, 8).Draw(t, "lines") {
		switch rapid.IntRange(0, 5).Draw(t, "line") {
		case 0:
			lines = append(lines, "", fmt.Sprintf("## Section %d", i), "")
		case 1:
			lines = append(lines, fmt.Sprintf("text %d", i))
		default:
			lines = append(lines, fmt.Sprintf("- [t%d](t%d.md) — s%d", i, i, i))
		}
	}
	return lines
}

// vary makes another version of lines: some are removed, changed, or added; mark
// keeps what two versions add apart.
func vary(t *rapid.T, lines []string, mark string) []string {
	out := slices.Clone(lines)
	for n := range rapid.IntRange(0, 4).Draw(t, mark+" edits") {
		at := rapid.IntRange(0, len(out)).Draw(t, mark+" at")
		switch rapid.IntRange(0, 3).Draw(t, mark+" edit") {
		case 0:
			if at < len(out) && out[at] != "" {
				out = slices.Delete(out, at, at+1)
			}
		case 1:
			if at < len(out) && strings.HasPrefix(out[at], "- ") {
				out[at] += fmt.Sprintf(" %s%d", mark, n)
			}
		default:
			out = slices.Insert(out, at, fmt.Sprintf("- [%s%d](%s%d.md) — new", mark, n, mark, n))
		}
	}
	return out
}

func join2(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func targets(index string) []string {
	var out []string
	for _, e := range memfile.ParseIndex(index).Entries {
		out = append(out, e.Target)
	}
	slices.Sort(out)
	return out
}

// TestMergeOfIndexes checks what two writers of one index must be able to rely on.
func TestMergeOfIndexes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := drawIndex(t)
		ours, theirs := vary(t, lines, "o"), vary(t, lines, "h")
		base, o, h := join2(lines), join2(ours), join2(theirs)
		m, conflicts := Merge("MEMORY.md", base, o, h)
		again, _ := Merge("MEMORY.md", base, o, h)
		if m != again {
			t.Fatalf("two merges differ: %q, %q", m, again)
		}
		swapped, other := Merge("MEMORY.md", base, h, o)
		if (len(conflicts) > 0) != (len(other) > 0) {
			t.Fatalf("conflicts %v one way, %v the other", conflicts, other)
		}
		if len(conflicts) > 0 {
			return
		}
		if a, b := targets(m), targets(swapped); !slices.Equal(a, b) {
			t.Fatalf("entries %q one way, %q the other", a, b)
		}
		in := func(s []string, l string) bool { return slices.Contains(s, l) }
		merged := strings.Split(strings.TrimSuffix(m, "\n"), "\n")
		for _, l := range append(slices.Clone(ours), theirs...) {
			if l != "" && !in(lines, l) && !in(merged, l) {
				t.Fatalf("what a writer added is lost: %q\nbase %q\nours %q\ntheirs %q\nmerged %q", l, lines, ours, theirs, merged)
			}
		}
		for _, l := range lines {
			if l != "" && in(ours, l) && in(theirs, l) && !in(merged, l) {
				t.Fatalf("what nobody touched is lost: %q in %q", l, merged)
			}
			if l != "" && (!in(ours, l) || !in(theirs, l)) && in(merged, l) {
				t.Fatalf("what a writer removed is back: %q in %q", l, merged)
			}
		}
		for _, l := range merged {
			if l != "" && !in(lines, l) && !in(ours, l) && !in(theirs, l) {
				t.Fatalf("a line from nowhere: %q", l)
			}
		}
	})
}

// TestMergeOfTopics does the same for sections and keys.
func TestMergeOfTopics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := []string{"name", "description", "k1", "k2", "A", "B", "C", "D"}
		type version map[string]string
		render := func(v version) string {
			var b strings.Builder
			b.WriteString("---\n")
			for _, k := range parts[:4] {
				if s, ok := v[k]; ok {
					fmt.Fprintf(&b, "%s: %s\n", k, s)
				}
			}
			b.WriteString("---\n\nlead\n")
			for _, k := range parts[4:] {
				if s, ok := v[k]; ok {
					fmt.Fprintf(&b, "\n## %s\n\n%s\n", k, s)
				}
			}
			return b.String()
		}
		draw := func(from version, mark string) version {
			v := maps.Clone(from)
			for _, k := range parts {
				switch rapid.IntRange(0, 5).Draw(t, mark+k) {
				case 0:
					v[k] = mark + " " + k
				case 1:
					if k != "name" {
						delete(v, k)
					}
				}
			}
			return v
		}
		base := version{"name": "n", "description": "d"}
		for _, k := range parts[2:] {
			if rapid.Bool().Draw(t, "has "+k) {
				base[k] = "base " + k
			}
		}
		ours, theirs := draw(base, "ours"), draw(base, "theirs")
		want, clash := version{}, false
		for _, k := range parts {
			b, inB := base[k]
			o, inO := ours[k]
			h, inH := theirs[k]
			switch {
			case o == h && inO == inH, o == b && inO == inB:
				if inH {
					want[k] = h
				}
			case h == b && inH == inB:
				if inO {
					want[k] = o
				}
			default:
				clash = true
			}
		}
		got, conflicts := Merge("x.md", render(base), render(ours), render(theirs))
		if clash != (len(conflicts) > 0) {
			t.Fatalf("conflicts %v, want %v\nbase %v\nours %v\ntheirs %v", conflicts, clash, base, ours, theirs)
		}
		if clash {
			return
		}
		f := memfile.Parse(got)
		have := version{}
		for _, k := range parts[:4] {
			if v := f.Value(k); v != "" {
				have[k] = v
			}
		}
		for _, h := range f.Outline().Headings {
			have[h.Text] = strings.TrimSpace(got[h.Line.End:h.Section.End])
		}
		if !maps.Equal(have, want) {
			t.Fatalf("merged %v, want %v\nbase %v\nours %v\ntheirs %v\n%s", have, want, base, ours, theirs, got)
		}
	})
}
