package rules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"pgregory.net/rapid"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// indexRules are the rules about the index alone.
var indexRules = []string{"index-too-long", "index-too-large", "index-near-limit", "entry-too-long", "index-frontmatter", "index-comment", "duplicate-entry"}

func indexEngine() *diagnostics.Engine {
	all := slices.DeleteFunc(rules.All(), func(r diagnostics.Rule) bool { return !slices.Contains(indexRules, r.ID) })
	return &diagnostics.Engine{Rules: all, Fixes: fixes.All()}
}

func snapshotOf(t rapid.TB, files map[string]string, config *diagnostics.Config) *diagnostics.Snapshot {
	t.Helper()
	fsys := fstest.MapFS{}
	for p, s := range files {
		fsys[p] = &fstest.MapFile{Data: []byte(s), Mode: 0o644}
	}
	v, err := memdir.Read(context.Background(), fsys, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return diagnostics.NewSnapshot(v, config, nil, memdir.Stamp{Origin: "a-session"}, nil)
}

func found(t rapid.TB, e *diagnostics.Engine, s *diagnostics.Snapshot) []diagnostics.Finding {
	t.Helper()
	r, err := e.Check(context.Background(), s, diagnostics.Scope{Paths: []string{memfile.IndexName}})
	if err != nil || len(r.Failures) > 0 {
		t.Fatal(err, r)
	}
	return r.Findings
}

// TestLongIndex: what the issue promises of an index of 260 lines.
func TestLongIndex(t *testing.T) {
	files := map[string]string{}
	var b strings.Builder
	b.WriteString("# Memory\n\n")
	for i := range 258 {
		fmt.Fprintf(&b, "- [Topic %d](t%d.md) — what there is to know of it\n", i, i)
		files[fmt.Sprintf("t%d.md", i)] = fmt.Sprintf("---\nname: t%d\ndescription: x\ntype: project\n---\n\nText.\n", i)
	}
	files[memfile.IndexName] = b.String()
	e := indexEngine()
	s := snapshotOf(t, files, nil)
	all := found(t, e, s)
	if len(all) != 1 || all[0].Rule != "index-too-long" || all[0].Severity != diagnostics.Error || !all[0].Unnecessary || len(all[0].Offers) != 1 {
		t.Fatalf("%d findings, the first one %s", len(all), all[0].Message)
	}
	if at := all[0].Text.Position(all[0].Span.Start, text.UTF8); at.Line != 200 {
		t.Errorf("the first line that is not loaded is %d", at.Line+1)
	}
	c, err := e.Make(context.Background(), s, all[0], all[0].Offers[0])
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Apply(files)
	if err != nil {
		t.Fatal(err)
	}
	lost(t, files, after)
	if left := found(t, e, snapshotOf(t, after, nil)); len(left) != 1 || left[0].Rule != "index-near-limit" {
		t.Errorf("after: %+v", left)
	}
	everything := &diagnostics.Engine{Rules: rules.All(), Fixes: fixes.All()}
	r, err := everything.Check(context.Background(), snapshotOf(t, after, nil), diagnostics.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Path == "more-memories.md" && f.Rule != "reference-long" && f.Rule != "body-structure" || f.Rule == "orphan-topic" || f.Rule == "broken-link" {
			t.Errorf("%s: %s: %s", f.Path, f.Rule, f.Message)
		}
	}
	x := memfile.ParseIndex(after[memfile.IndexName])
	if l := memdir.Load(x, memdir.SeedRule()); l.Cut || l.TotalLines != 160 {
		t.Errorf("%d lines", l.TotalLines)
	}
	want := "- [More memories](more-memories.md) — 101 memories: Topic 157, Topic 158, Topic 159, Topic 160, Topic 161, Topic 162, Topic 163, Topic 164, …\n"
	if !strings.HasSuffix(after[memfile.IndexName], want) {
		t.Errorf("the entry: %q", after[memfile.IndexName][len(after[memfile.IndexName])-170:])
	}
}

// TestLongEntries: 200 long entries are too large; their details go into their
// topics, and the index has some room then.
func TestLongEntries(t *testing.T) {
	files := map[string]string{}
	var b strings.Builder
	for i := range 170 {
		fmt.Fprintf(&b, "- [Topic %d](t%d.md) — What there is to know of it. %s\n", i, i, strings.Repeat("And more, ", 3+i%30))
		if i%2 == 0 {
			files[fmt.Sprintf("t%d.md", i)] = fmt.Sprintf("---\nname: t%d\ndescription: x\ntype: project\n---\n\nText.\n", i)
		}
	}
	files[memfile.IndexName] = b.String()
	e := indexEngine()
	s := snapshotOf(t, files, nil)
	all := found(t, e, s)
	i := slices.IndexFunc(all, func(f diagnostics.Finding) bool { return f.Rule == "index-too-large" })
	if i < 0 || all[i].Offers[0].Fix != fixes.ShortenIndex || all[i].Offers[1].Fix != fixes.MoveSection {
		t.Fatalf("%d findings, the first one %s", len(all), all[0].Message)
	}
	c, err := e.Make(context.Background(), s, all[i], all[i].Offers[0])
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Apply(files)
	if err != nil {
		t.Fatal(err)
	}
	lost(t, files, after)
	if l := memdir.Load(memfile.ParseIndex(after[memfile.IndexName]), memdir.SeedRule()); l.Cut || l.TotalSize > 23750 || l.TotalSize < 23000 {
		t.Errorf("%d bytes", l.TotalSize)
	}
}

// words gives the words of a text.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// lost fails where a word or the target of a link that the index had is in none of
// the files that were changed.
func lost(t rapid.TB, before, after map[string]string) {
	t.Helper()
	have, leads := map[string]bool{}, map[string]bool{}
	for p, s := range after {
		for _, w := range words(s) {
			have[strings.ToLower(w)] = true
		}
		f := memfile.Parse(s)
		for _, l := range memfile.Links(f.Text, f.Body, f.Outline()) {
			leads[diagnostics.Target(p, l)+l.Target[strings.LastIndex("#"+l.Target, "#"):]] = true
			leads[diagnostics.Target(p, l)] = true
		}
	}
	old := memfile.ParseIndex(before[memfile.IndexName])
	for _, w := range words(old.Text().String()) {
		if !have[strings.ToLower(w)] && w != "1" { // the number of a list item
			t.Fatalf("the word %q is lost:\n%s\n----\n%v", w, before[memfile.IndexName], after)
		}
	}
	for _, l := range old.Links {
		if p := diagnostics.Target(memfile.IndexName, l); !leads[p] {
			t.Fatalf("no link leads to %q any more:\n%s\n----\n%v", p, before[memfile.IndexName], after)
		}
	}
}

// memories draws a memory directory with an index of any style.
func memories(t *rapid.T) map[string]string {
	word := rapid.OneOf(rapid.StringMatching(`[a-z]{1,9}`), rapid.SampledFrom([]string{"Sentence.", "clause,", "clause;", "—", "部署。", "先测试，", "`co. de`", "**strong. text**", "(in, brackets)", "[web](https://x.y/z)",
		"[file](notes/file.txt)", "[B](b.md)", "[C](sub/c.md#part)", "[[name]]", "👩‍👧", "*em", "\"quote", "1. x", "#", "e.g."}))
	phrase := func(n int) string { return strings.Join(rapid.SliceOfN(word, 0, n).Draw(t, "phrase"), " ") }
	target := rapid.SampledFrom([]string{"a.md", "b.md", "sub/c.md", "sub/c.md#x", "new.md", "sub/deep/new.md", "<with space.md>", "部署.md", "../out.md", "https://x.y/z.md"})
	line := func() string {
		entry := "[" + phrase(3) + "](" + target.Draw(t, "target") + ")" + rapid.SampledFrom([]string{" — ", " - ", ": ", " ", "** — "}).Draw(t, "dash") + phrase(30)
		mark := rapid.SampledFrom([]string{"- ", "* ", "1. ", "- **", "- [ ] ", "- see "}).Draw(t, "mark")
		indent := rapid.SampledFrom([]string{"", "", "", "  ", "    ", "\t"}).Draw(t, "indent")
		switch rapid.IntRange(0, 14).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"# ", "## ", "### "}).Draw(t, "level") + phrase(3)
		case 1:
			return phrase(20)
		case 2:
			return ""
		case 3:
			return indent + "- " + phrase(10)
		case 4:
			return "  " + phrase(12)
		case 5:
			return indent + "```\n" + indent + phrase(5) + "\n" + indent + "```"
		case 6:
			return "| [T](a.md) | " + phrase(5) + " |"
		case 7:
			return "<!-- " + strings.ReplaceAll(phrase(3), "--", "") + " -->"
		}
		return indent + mark + entry
	}
	var lines []string
	for range rapid.IntRange(1, 25).Draw(t, "lines") {
		lines = append(lines, line())
	}
	files := map[string]string{memfile.IndexName: strings.Join(lines, "\n"),
		"a.md":     rapid.SampledFrom([]string{"", "---\nname: a\ndescription: d\ntype: user\n---\n", "---\nname: a\n---\n\nText.", "# T\r\n\r\n## Details from the index\r\n\r\nold\r\n\r\n## More\r\n"}).Draw(t, "a"),
		"b.md":     "---\nname: b\ndescription: d\nmetadata:\n  type: user\n---\n\nText.\n\n\n",
		"sub/c.md": "---\nname: c\ndescription: d\ntype: user\n---\n\nText.\n",
	}
	index := files[memfile.IndexName] + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")
	if rapid.Bool().Draw(t, "crlf") {
		index = text.WithEOL(index, "\r\n")
	}
	files[memfile.IndexName] = rapid.SampledFrom([]string{"", "", text.BOM}).Draw(t, "bom") + index
	return files
}

// TestIndexFixesLoseNothing makes every offer for any index: no word and no link is
// lost, and what was wrong is mended.
func TestIndexFixesLoseNothing(t *testing.T) {
	e := indexEngine()
	made := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		files := memories(t)
		config := diagnostics.DefaultConfig()
		config.Limits.IndexLines = rapid.IntRange(4, 30).Draw(t, "index_lines")
		config.Limits.IndexSize = rapid.IntRange(200, 3000).Draw(t, "index_bytes")
		config.Limits.EntryLength = rapid.IntRange(40, 120).Draw(t, "entry_length")
		config.Client = rapid.SampledFrom([]diagnostics.Client{diagnostics.AnyClient, diagnostics.ClaudeCode, diagnostics.SeedClient}).Draw(t, "client")
		s := snapshotOf(t, files, config)
		for _, f := range found(t, e, s) {
			for _, o := range f.Offers {
				if o.Fix == fixes.RemoveEntry || o.Fix == fixes.RemoveComment || o.Fix == fixes.RemoveFrontmatter {
					continue
				}
				c, err := e.Make(context.Background(), s, f, o)
				if err != nil {
					t.Fatalf("%s: %v\n%s", o.Fix, err, files[memfile.IndexName])
				}
				after, err := c.Apply(files)
				if err != nil {
					t.Fatal(err)
				}
				made[o.Fix]++
				lost(t, files, after)
				index := after[memfile.IndexName]
				if n := strings.Count(files[memfile.IndexName], "\n"); n > 0 && strings.Count(files[memfile.IndexName], "\r\n") == n && strings.Count(index, "\r\n") != strings.Count(index, "\n") {
					t.Fatalf("mixed line ends: %q", index)
				}
				if strings.HasPrefix(files[memfile.IndexName], text.BOM) != strings.HasPrefix(index, text.BOM) {
					t.Fatalf("the byte order mark is lost: %q", index)
				}
				for _, left := range found(t, e, snapshotOf(t, after, config)) {
					switch {
					case o.Fix != fixes.RemoveDuplicate && o.Fix != fixes.MoveDetails && (left.Rule == "index-too-long" || left.Rule == "index-too-large"):
						t.Fatalf("%s %q leaves %s\n%s\n----\n%s", o.Fix, o.Arg, left.Message, files[memfile.IndexName], index)
					case o.Fix == fixes.MoveDetails && left.Rule == f.Rule && left.Text.LineAt(left.Span.Start) == f.Text.LineAt(f.Span.Start):
						t.Fatalf("%s leaves %s\n%s\n----\n%s", o.Fix, left.Message, files[memfile.IndexName], index)
					}
				}
			}
		}
	})
	t.Log(made)
}

// TestIndexRulesStand: no text of an index breaks a rule or a fix, and spans lie in it.
func TestIndexRulesStand(t *testing.T) {
	e := indexEngine()
	piece := rapid.SampledFrom([]string{"-", "- ", "* ", "1. ", "[", "]", "(", ")", "](a.md)", "[[", "]]", "# ", "## ", "`", "```", "~~~", "|", "<!--", "-->", " ", "  ", "\t", "\r", "\n", "\r\n",
		"\n\n", "---", "\xff", "\x00", text.BOM, "a", "b.md", "—", " — ", "界", "。", "👩‍👧", "**", "_", "\\", "name: x", "\u2028", "mem-ignore-file"})
	rapid.Check(t, func(t *rapid.T) {
		files := map[string]string{memfile.IndexName: strings.Join(rapid.SliceOfN(piece, 0, 120).Draw(t, "index"), ""), "a.md": strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "a"), "")}
		config := diagnostics.DefaultConfig()
		config.Limits.IndexLines, config.Limits.IndexSize, config.Limits.EntryLength = rapid.IntRange(1, 12).Draw(t, "lines"), rapid.IntRange(50, 300).Draw(t, "bytes"), rapid.IntRange(20, 60).Draw(t, "length")
		s := snapshotOf(t, files, config)
		for _, f := range found(t, e, s) {
			if f.Span.Start < 0 || f.Span.End < f.Span.Start || f.Span.End > f.Text.Len() {
				t.Fatalf("%s: %v of %d", f.Rule, f.Span, f.Text.Len())
			}
			for _, o := range f.Offers {
				if o.Fix == fixes.RemoveEntry {
					continue
				}
				c, err := e.Make(context.Background(), s, f, o)
				if err != nil {
					if strings.Contains(err.Error(), "broke down") {
						t.Fatal(err)
					}
					continue
				}
				if _, err := c.Apply(files); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
