package language_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/internal/lspserver/language"
)

// FuzzPlaces asks everything of every kind of file at any offset. Nothing may
// break down, and every span lies in the text that it counts in.
func FuzzPlaces(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "---", "---\n", "---\r\ntype:", "---\nname: a\n", "---\n\n", text.BOM, text.BOM + "---\ntype: \n---\n", "\xff[[\xff](\x00#",
		"[a](b.md) [[b]] [[", "[x](", "- [x](<", "- [a](a.md#h) — s\n  more", "# H\n## H\n[h](#h-1)", "[[#", "[[|]]", "[](#)", "[]()", "](", "[x](%",
		"---\nmetadata: {type: user}\n---\n", "---\n? a\n: b\n---\n", "---\na: |\n\n\n---", "<!-- mem-ignore-file x, ", "<!-- mem-ignore-next-line a b -->\n",
		"rules:\n  secret: \nlimits:\n  index_l\nclient:", text.BOM + "client: any", "r", "rules:\n ",
		"---\n# mem-ignore-file x\ntype: user\n---\n", "😀[风格](风格.md)\r\n[[风格", "|[a](a.md)|[[b|c]]|", "[x](a.md \"t\")", "[x](../a.md) [y](/a) [z](C:\\a) [w](http://[)",
		"```\n[[a]]\n```\n`[x](a.md", "Title\n===\n[a](a.md)\n- - - [b](b.md)", "#\n##\n",
	} {
		f.Add(seed, len(seed)/2)
	}
	f.Fuzz(func(t *testing.T, src string, offset int) {
		if len(src) > 1<<14 {
			return
		}
		files := fstest.MapFS{}
		for _, p := range []string{"MEMORY.md", "a.md", "sub/b.md", "logs/2026/11/2026-11-30.md"} {
			files[p] = &fstest.MapFile{Data: []byte(src), Mode: 0o644}
		}
		files["h.md"] = &fstest.MapFile{Data: []byte("---\nname: b\ntype: user\n---\n# H\n[a](a.md) [[b]] [[a]]\n"), Mode: 0o644}
		v, err := memdir.Read(context.Background(), files, nil, memdir.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{}, nil)
		tx := text.New(src)
		for at := offset - 2; at < offset+2; at++ {
			if tip, ok := language.ConfigHover(tx, at); ok {
				_ = tx.Slice(tip.Span)
			}
			for _, it := range language.ConfigComplete(tx, at) {
				_ = tx.Slice(it.Replace)
			}
		}
		for _, p := range s.Paths() {
			d, err := s.Doc(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int{offset, 0, -1, len(src), len(src) + 1, strings.LastIndexByte(src, '\n')} {
				askAll(t, s, d, at)
			}
		}
	})
}

func askAll(t *testing.T, s *diagnostics.Snapshot, d *diagnostics.Doc, at int) {
	src := d.File.Text
	inside := func(what string, tx *text.Text, spans ...text.Span) {
		for _, sp := range spans {
			if sp.Start < 0 || sp.End < sp.Start || sp.End > tx.Len() {
				t.Fatalf("%s of %q at %d: %+v lies outside", what, tx.String(), at, sp)
			}
		}
	}
	if tip, ok := language.Hover(s, d, at); ok {
		inside("hover", src, tip.Span)
		if tip.Markdown == "" {
			t.Fatal("an empty hover")
		}
	}
	items, _ := language.Complete(s, d, at)
	for _, it := range items {
		inside("completion", src, it.Replace)
		place := min(max(at, 0), src.Len())
		if strings.ContainsAny(src.Slice(it.Replace), "\n") {
			t.Fatalf("%q: %+v at %d leaves its line", src.String(), it, at)
		}
		atMark := place < len(text.BOM) && src.HasBOM() // moved behind it
		inEnding := place == it.Replace.End+1 && src.String()[place-1] == '\r'
		if !atMark && !inEnding && (it.Replace.Start > place || it.Replace.End < place) {
			t.Fatalf("%q: %+v does not hold %d", src.String(), it, place)
		}
		if it.Label == "" {
			t.Fatalf("%+v", it)
		}
	}
	to, from := language.Definition(s, d, at)
	inside("definition", src, from)
	for _, l := range append(to, language.References(s, d, at, true)...) {
		inside("location", l.Text, l.Span)
	}
	for _, l := range language.DocumentLinks(s, d) {
		inside("link", src, l.Span)
	}
	symbolsInside(t, d, language.Symbols(d), text.Span{End: src.Len()})
}

// symbolsInside says that symbols are named, lie in their parent, and hold what
// names them, as editors demand.
func symbolsInside(t *testing.T, d *diagnostics.Doc, all []language.Symbol, in text.Span) {
	for _, s := range all {
		if s.Name == "" || s.Span.Start < in.Start || s.Span.End > in.End || s.Selection.Start < s.Span.Start || s.Selection.End > s.Span.End || s.Selection.End < s.Selection.Start {
			t.Fatalf("%q: %+v in %+v", d.Source(), s, in)
		}
		symbolsInside(t, d, s.Children, s.Span)
	}
}
