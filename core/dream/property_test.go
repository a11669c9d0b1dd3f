package dream_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
)

// mess makes small memories of everything that was seen to go wrong in real ones. Each word
// that says something is there once, or in a copy that was made on purpose, so that a word
// that is lost is seen to be lost.
type mess struct {
	t     *rapid.T
	words int
	files map[string]string
	names []string
}

func (g *mess) n(most int, label string) int { return rapid.IntRange(0, most).Draw(g.t, label) }
func (g *mess) of(label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(g.t, label)
}

// word is one that no other place has.
func (g *mess) word() string {
	g.words++
	return fmt.Sprintf("w%dx", g.words)
}

func (g *mess) phrase(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = g.word()
	}
	return strings.Join(out, " ")
}

func (g *mess) link() string {
	to := g.of("link", append([]string{"gone-a.md", "gone-b.md", "../out.md", "sub/nowhere.md"}, g.names...)...)
	switch g.n(3, "kind of link") {
	case 0:
		return "[[" + strings.TrimSuffix(to, ".md") + "]]"
	case 1:
		return "[" + g.word() + "](" + to + "#steps)"
	}
	return "[" + g.word() + "](" + to + ")"
}

// part is one block of a body.
func (g *mess) part() string {
	switch g.n(12, "part") {
	case 0:
		return "## " + g.of("heading", "Steps", "Why", "Details from the index", "Old")
	case 1:
		return "- " + g.phrase(4) + "\n- " + g.phrase(3) + "\n  - " + g.phrase(3) + "\n  more " + g.phrase(2)
	case 2:
		return "1. " + g.phrase(3) + "\n2. " + g.phrase(3)
	case 3:
		return "```sh\n# " + g.phrase(2) + "\n\n- " + g.phrase(2) + "\n```"
	case 4:
		return "See " + g.link() + " and " + g.link() + " " + g.phrase(3)
	case 5:
		return "> " + g.phrase(4) + "\n> " + g.phrase(4)
	case 6:
		return "| a | b |\n|---|---|\n| " + g.phrase(2) + " | " + g.phrase(2) + " |"
	case 7:
		return "Yesterday " + g.phrase(4) + " until next week"
	case 8:
		return "    " + g.phrase(3)
	case 9:
		return "<!-- " + g.phrase(3) + " -->"
	case 10:
		return "Head " + g.word() + "\n==="
	}
	return strings.ToUpper(g.word()) + " " + g.phrase(12) + ".\n" + g.phrase(6) + "."
}

func (g *mess) body() string {
	var parts []string
	for range g.n(5, "parts") {
		parts = append(parts, g.part())
	}
	return strings.Join(parts, "\n\n")
}

// topic gives a topic in one of the forms that are around.
func (g *mess) topic(name, kind, said, body string) string {
	extra := g.of("extra key", "", "", "team: "+g.word()+"\n", "pinned: true\n", "modified: 2026-01-02T03:04:05.000Z\n", "tags:\n  - "+g.word()+"\n  - "+g.word()+"\n", "# "+g.word()+"\n")
	switch g.n(7, "form") {
	case 0:
		return body + "\n"
	case 1:
		return fmt.Sprintf("---\nname: %s\ndescription: %s\nmetadata: \n  type: %s\n  %s---\n\n%s\n", name, said, kind, g.of("nested", "", "pinned: true\n  ", "owner: "+g.word()+"\n  ")+"node_type: memory\n", body)
	case 2:
		return fmt.Sprintf("---\nname: %s\ndescription: %s: %s\ntype: %s\n%s---\n%s", name, said, g.word(), kind, extra, body)
	case 3:
		return fmt.Sprintf("---\nname: %s\ndescription: %s\ntype: %s\n\n%s\n", name, said, kind, body) // not closed
	case 4:
		return strings.ReplaceAll(topicText(name, said, kind, body), "\n", "\r\n")
	case 5:
		return "\ufeff" + topicText(name, said, kind, body)
	}
	return fmt.Sprintf("---\nname: %s\ndescription: %s\ntype: %s\n%s---\n\n%s\n", name, said, kind, extra, body)
}

// vary gives nearly the same body, or the same.
func (g *mess) vary(body string) string {
	switch g.n(4, "copy") {
	case 0:
		return body
	case 1:
		return strings.ReplaceAll(body, "\n\n", "\n\n\n")
	case 2:
		return body + "\n\n" + g.part()
	case 3:
		return g.part() + "\n\n" + body
	}
	return strings.Replace(body, "\n", "\n"+g.word()+" ", 1)
}

func (g *mess) index() string {
	var lines []string
	if g.n(3, "title") > 0 {
		lines = append(lines, "# Memory", "")
	}
	mark := g.of("mark", "- ", "- ", "* ", "1. ")
	entry := func(to string) string {
		return mark + "[" + g.of("entry title", strings.TrimSuffix(to, ".md"), g.word(), "["+g.word()+"]") + "](" + to + ")" + g.of("dash", " — ", " - ", ": ") + g.phrase(g.n(4, "summary")+1)
	}
	long := g.n(1, "long index") == 1
	for _, name := range g.names {
		for range g.n(2, "entries") {
			lines = append(lines, entry(name))
			if long || g.n(4, "details") == 0 {
				for range g.n(5, "details") {
					lines = append(lines, g.of("indent", "  ", "    ", "\t")+g.of("detail", "- ", "")+g.phrase(g.n(4, "detail")+2))
				}
			}
			if g.n(6, "long summary") == 0 {
				lines[len(lines)-1] += " " + g.phrase(25)
			}
		}
		switch g.n(9, "between") {
		case 0:
			lines = append(lines, "", "## "+g.word(), "")
		case 1:
			lines = append(lines, "", g.phrase(5), "")
		case 2:
			lines = append(lines, entry("gone-a.md"))
		case 3:
			lines = append(lines, entry("gone-b.md"), "  "+g.phrase(3))
		case 4:
			lines = append(lines, "")
		}
	}
	src := strings.Join(lines, "\n") + g.of("end", "\n", "")
	if g.n(5, "crlf index") == 0 {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	return src
}

func messOf(t *rapid.T) *generated {
	g := &mess{t: t, files: map[string]string{}}
	for i := range g.n(7, "topics") + 1 {
		g.names = append(g.names, g.of("name", "t%d.md", "t%d.md", "sub/t%d.md", "t %d.md", "t(%d).md", "记%d.md"))
		g.names[i] = fmt.Sprintf(g.names[i], i)
	}
	var bodies, said []string
	for i, name := range g.names {
		body, about := g.body(), g.phrase(g.n(3, "description")+1)
		if i > 0 && g.n(2, "is it a copy") == 0 {
			of := g.n(i-1, "copy of")
			body = g.vary(bodies[of])
			if g.n(1, "same description") == 0 {
				about = said[of]
			}
		}
		bodies, said = append(bodies, body), append(said, about)
		kind := g.of("type", "project", "project", "feedback")
		g.files[name] = g.topic(memdir.Stem(name), kind, about, body)
	}
	if g.n(9, "index") > 0 {
		g.files["MEMORY.md"] = g.index()
	}
	g.files["logs/2026/11/2026-11-29.md"] = "- " + g.phrase(4) + "\n"
	g.files["CLAUDE.md"] = "Not ours: [x](" + g.names[0] + ") " + g.phrase(3) + "\n"
	return of(g.files)
}

var aWord = regexp.MustCompile(`(?i)w[0-9]+x`)

// wordsOf gives the words that only a person or an agent can have written.
func wordsOf(files map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, s := range files {
		for _, w := range aWord.FindAllString(s, -1) {
			out[strings.ToLower(w)] = true
		}
	}
	return out
}

func lost(before, after map[string]bool) (out []string) {
	for w := range before {
		if !after[w] {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

// dead gives the words of links and entries that lead nowhere, with what is indented below
// them: only these may go, and only when a person lets them.
func dead(files map[string]string) map[string]bool {
	out := map[string]string{}
	for p, s := range files {
		below := false
		for line := range strings.Lines(s) {
			below = strings.Contains(line, "gone-") || strings.Contains(line, "nowhere.md") || below && strings.TrimLeft(line, " \t") != line
			if below {
				out[p] += line
			}
		}
	}
	return wordsOf(out)
}

// TestNoWordIsLost: whatever a memory looks like, what the mechanical part applies keeps
// every word in memory, and so does what it proposes, links that lead nowhere aside; any of
// its proposals goes without the others; pinned topics and files that are not memory stay.
func TestNoWordIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := messOf(t)
		out := m.dream(t)
		before := wordsOf(m.files)
		mended := m.applied(t, out.Apply...)
		if l := lost(before, wordsOf(mended.files)); len(l) > 0 {
			t.Fatalf("what is applied loses %v\n%s\n%s", l, shownFiles(m.files), titles(out.Apply))
		}
		gone := mended.applied(t, out.Copies...)
		if l := lost(before, wordsOf(gone.files)); len(l) > 0 {
			t.Fatalf("copies lose %v\n%s\n%s", l, shownFiles(m.files), titles(out.Copies))
		}
		units := rapid.Permutation(slices.Concat(out.Copies, out.Propose)).Draw(t, "order")
		some := mended.applied(t, units[:rapid.IntRange(0, len(units)).Draw(t, "some")]...)
		all := mended.applied(t, units...)
		for _, after := range []*generated{some, all} {
			may := dead(m.files)
			if l := lost(before, wordsOf(after.files)); slices.ContainsFunc(l, func(w string) bool { return !may[w] }) {
				t.Fatalf("with proposals, %v are lost\n%s\n%s", l, shownFiles(m.files), titles(units))
			}
		}
		for p, s := range m.files {
			if (memfile.Parse(s).Pinned() && p != "MEMORY.md" || memdir.CheckTopicPath(p) != nil && p != "MEMORY.md") && all.files[p] != s {
				t.Fatalf("%s is not to be changed, and was:\n%s\nbefore:\n%s", p, all.files[p], s)
			}
		}
	})
}

// TestDreamsSettle: a mechanical dream right after one has nothing more to apply, and
// proposes the same; where all proposals are applied, dreams come to an end.
func TestDreamsSettle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := messOf(t)
		first := m.dream(t)
		mended := m.applied(t, first.Apply...)
		second := mended.dream(t)
		if len(second.Apply) > 0 {
			t.Fatalf("a second dream applies\n%s\nafter\n%s\nof\n%s\nunits\n%s", titles(second.Apply), titles(first.Apply), shownFiles(m.files), diffOf(second.Apply))
		}
		a, b := diffOf(slices.Concat(first.Copies, first.Propose)), diffOf(slices.Concat(second.Copies, second.Propose))
		if a != b {
			t.Fatalf("a second dream proposes\n%s\nthe first\n%s\nof\n%s", b, a, shownFiles(m.files))
		}
		now, next := mended, second
		for i := 0; ; i++ {
			if len(next.Copies)+len(next.Propose)+len(next.Apply) == 0 {
				break
			}
			if i == len(m.files)+3 {
				t.Fatalf("after %d dreams there is still\n%s\nof\n%s", i, diffOf(slices.Concat(next.Apply, next.Copies, next.Propose)), shownFiles(m.files))
			}
			now = now.applied(t, slices.Concat(next.Apply, next.Copies, next.Propose)...)
			next = now.dream(t)
		}
	})
}

func shownFiles(files map[string]string) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "-- %s --\n%s\n", p, strings.ReplaceAll(files[p], "\r", "␍"))
	}
	return b.String()
}

// diffOf shows what units do.
func diffOf(units []proposal.Unit) string {
	var b strings.Builder
	for _, u := range units {
		fmt.Fprintf(&b, "## %s\n", u.Title)
		for _, f := range u.Change.Files {
			after, _, _ := f.After()
			fmt.Fprintf(&b, "%s %s\n%s", f.Kind, f.Path, udiff.Unified(f.Path, f.Path, f.Base, after))
		}
	}
	return b.String()
}
