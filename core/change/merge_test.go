package change

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	const index = "# Memory\n\n- [a](a.md) — first\n- [b](b.md) — second\n\n## Old\n\n- [c](c.md) — third\n"
	const topic = "---\nname: x\ndescription: d\ntype: user\n---\n\nlead\n\n## Why\n\nbecause\n\n## How\n\nso\n"
	rep := func(s, old, new string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("%q is not in the base", old)
		}
		return strings.Replace(s, old, new, 1)
	}
	tests := []struct {
		name, path, base, ours, theirs, want string
		conflict                             string
	}{
		{name: "two entries at one place", path: "MEMORY.md", base: index,
			ours:   rep(index, "- [a]", "- [n](n.md) — ours\n- [a]"),
			theirs: rep(index, "- [a]", "- [m](m.md) — theirs\n- [a]"),
			want:   rep(index, "- [a]", "- [n](n.md) — ours\n- [m](m.md) — theirs\n- [a]")},
		{name: "two entries into an empty index", path: "MEMORY.md", base: "",
			ours: "- [n](n.md)\n", theirs: "- [m](m.md)\n", want: "- [n](n.md)\n- [m](m.md)\n"},
		{name: "one entry changed, another removed", path: "MEMORY.md", base: index,
			ours:   rep(index, "first", "FIRST"),
			theirs: rep(index, "- [b](b.md) — second\n", ""),
			want:   rep(rep(index, "first", "FIRST"), "- [b](b.md) — second\n", "")},
		{name: "one entry changed twice", path: "MEMORY.md", base: index,
			ours: rep(index, "first", "1"), theirs: rep(index, "first", "2"), conflict: "the entry of a.md"},
		{name: "removed here, changed there", path: "MEMORY.md", base: index,
			ours: rep(index, "- [a](a.md) — first\n", ""), theirs: rep(index, "first", "2"), conflict: "the entry of a.md"},
		{name: "both removed", path: "MEMORY.md", base: index,
			ours: rep(index, "- [a](a.md) — first\n", ""), theirs: rep(index, "- [a](a.md) — first\n", ""),
			want: rep(index, "- [a](a.md) — first\n", "")},
		{name: "notebook lines", path: "MEMORY.md", base: "# N\n\none\ntwo\n",
			ours: "# N\n\nONE\ntwo\n", theirs: "# N\n\none\ntwo\nthree\n", want: "# N\n\nONE\ntwo\nthree\n"},
		{name: "one notebook line twice", path: "MEMORY.md", base: "# N\n\none\n",
			ours: "# N\n\nONE\n", theirs: "# N\n\nuno\n", conflict: `the line "one"`},
		{name: "keys and sections", path: "x.md", base: topic,
			ours: rep(topic, "description: d", "description: e"), theirs: rep(topic, "because", "since"),
			want: rep(rep(topic, "description: d", "description: e"), "because", "since")},
		{name: "two new sections", path: "x.md", base: topic,
			ours: topic + "\n## A\n\na\n", theirs: topic + "\n## B\n\nb\n", want: topic + "\n## A\n\na\n\n## B\n\nb\n"},
		{name: "one section twice", path: "x.md", base: topic,
			ours: rep(topic, "because", "1"), theirs: rep(topic, "because", "2"), conflict: `the section "Why"`},
		{name: "stamps", path: "x.md", base: rep(topic, "type: user\n", "type: user\nmodified: 2026-01-01T00:00:00.000Z\n"),
			ours:   rep(topic, "type: user\n", "type: user\nmodified: 2026-01-03T00:00:00.000Z\n"),
			theirs: rep(topic, "type: user\n", "type: user\nmodified: 2026-01-02T00:00:00.000Z\n"),
			want:   rep(topic, "type: user\n", "type: user\nmodified: 2026-01-03T00:00:00.000Z\n")},
		{name: "no newline at the end", path: "x.md", base: "a\n\n## S\n\ntext",
			ours: "a\n\n## S\n\ntext\n\n## T\n\nt", theirs: "A\n\n## S\n\ntext", want: "A\n\n## S\n\ntext\n\n## T\n\nt"},
		{name: "no blank line between sections stays so", path: "x.md", base: "## A\n\na\n## B\n\nb\n",
			ours: "## A\n\nA\n## B\n\nb\n", theirs: "## A\n\na\n## B\n\nB\n", want: "## A\n\nA\n## B\n\nB\n"},
		{name: "the last section, and one behind it", path: "x.md", base: "## A\n\na\n",
			ours: "## A\n\nA\n", theirs: "## A\n\na\n\n## B\n\nb\n", want: "## A\n\nA\n\n## B\n\nb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, conflicts := Merge(tt.path, tt.base, tt.ours, tt.theirs)
			if tt.conflict != "" {
				if len(conflicts) != 1 || conflicts[0].Part != tt.conflict {
					t.Fatalf("conflicts = %+v, want one over %s", conflicts, tt.conflict)
				}
				return
			}
			if len(conflicts) > 0 {
				t.Fatalf("unexpected conflict: %+v", conflicts)
			}
			if got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// piece draws text made of what memory files are made of.
func piece(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"---", "name: x", "description: \"a # b\"", "metadata:", "  type: user", "  modified: 2026-01-01T00:00:00.000Z", "type: project",
		"", "text", "# H", "## H", "- [a](a.md) — x", "- [b](b.md)", "  - [c](c.md)", "```", "<!-- c -->", "\ufeff", "é漢", "# comment", "a\r",
	}), 0, 14).Draw(t, label)
	s := strings.Join(lines, "\n")
	if rapid.Bool().Draw(t, label+" newline") {
		s += "\n"
	}
	return s
}

func TestSplitKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := piece(t, "s")
		for _, p := range []string{"MEMORY.md", "x.md"} {
			var b strings.Builder
			for _, u := range split(p, s) {
				b.WriteString(u.text)
			}
			if b.String() != s {
				t.Fatalf("%s: units of %q give %q", p, s, b.String())
			}
		}
	})
}

func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := piece(t, "base"), piece(t, "a"), piece(t, "b")
		p := rapid.SampledFrom([]string{"MEMORY.md", "x.md"}).Draw(t, "path")
		if m, c := Merge(p, base, a, base); m != a || c != nil {
			t.Fatalf("merge with an unchanged file: %q %v, want %q", m, c, a)
		}
		if m, c := Merge(p, base, base, b); m != b || c != nil {
			t.Fatalf("merge of no change: %q %v, want %q", m, c, b)
		}
		if m, c := Merge(p, base, a, a); m != a || c != nil {
			t.Fatalf("merge of the same change: %q %v, want %q", m, c, a)
		}
		m, c := Merge(p, base, a, b)
		if c != nil {
			return
		}
		// Every non-blank line of the result stands in one of the three.
		have := map[string]bool{}
		for _, s := range []string{base, a, b} {
			for l := range strings.Lines(s) {
				have[line(l)] = true
			}
		}
		for l := range strings.Lines(m) {
			if l = line(l); !have[l] && l != "" {
				t.Fatalf("line %q comes from nowhere", l)
			}
		}
	})
}

func line(l string) string { return strings.ReplaceAll(strings.TrimRight(l, "\r\n"), "\ufeff", "") }
