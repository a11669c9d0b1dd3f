package language_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/internal/lspserver/language"
)

// read makes a Snapshot of files.
func read(t testing.TB, files map[string]string, config *diagnostics.Config) *diagnostics.Snapshot {
	t.Helper()
	src := fstest.MapFS{}
	for p, data := range files {
		src[p] = &fstest.MapFile{Data: []byte(data), Mode: 0o644, ModTime: diagtestNow}
	}
	v, err := memdir.Read(context.Background(), src, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return diagnostics.NewSnapshot(v, config, nil, memdir.Stamp{Now: diagtestNow}, nil)
}

// TestCompletedLinksLead takes every item that is offered for a link, in files at
// the top and in a folder, and follows the link that it makes: it leads to the
// topic that the item stands for, whatever that is called.
func TestCompletedLinksLead(t *testing.T) {
	files := map[string]string{}
	topic := func(p, name string) { // its description is its path
		files[p] = fmt.Sprintf("---\nname: %q\ndescription: %q\ntype: user\n---\n", name, p)
	}
	topic("plain.md", "plain")
	topic("with space.md", "with space")
	topic("c# (new).md", "c#")
	topic("100%25 sure.md", "100%")
	topic("a&b.md", "[x]")
	topic("风格.md", "代码 风格")
	topic("😀.md", "😀")
	topic("sub/plain.md", "plain")
	topic("sub/deep/one.md", "with_space")
	topic("named-like.md", "plain.md")
	topic("other.md", "named-like")
	topic("UPPER.MD", "upper")
	topic("upper.md", "Upper")
	topic("quote\".md", "")
	topic("it's.md", " padded ")
	for _, from := range []string{"MEMORY.md", "here.md", "sub/here.md", "sub/deep/here.md"} {
		for _, open := range []string{"See [x](‸", "See [x](‸)", "See [x](<‸>) and on", "- [x](‸) — [[plain]]", "[[‸", "See [[‸]] and on", "😀 [[‸|text]]", "| [x](‸#part) |"} {
			before, after, _ := strings.Cut(open, "‸")
			files[from] = before + after + "\n"
			s := read(t, files, nil)
			d, err := s.Doc(from)
			if err != nil {
				t.Fatal(err)
			}
			items, incomplete := language.Complete(s, d, len(before))
			if incomplete || len(items) < 13 {
				t.Errorf("%s in %s: only %d items", open, from, len(items))
			}
			for _, it := range items {
				follow(t, files, from, it)
			}
			delete(files, from)
		}
	}
}

func follow(t *testing.T, files map[string]string, from string, it language.Item) {
	t.Helper()
	was := files[from]
	defer func() { files[from] = was }()
	after, ok := text.Apply(was, []text.Edit{{Span: it.Replace, New: it.Insert}})
	if !ok {
		t.Fatalf("%+v does not fit %q", it, was)
	}
	files[from] = after
	s := read(t, files, nil)
	d, err := s.Doc(from)
	if err != nil {
		t.Fatal(err)
	}
	to, _ := language.Definition(s, d, it.Replace.Start+1)
	if len(to) != 1 || to[0].Path != it.Documentation {
		t.Errorf("in %s, %q leads to %+v, not to %s", from, after, to, it.Documentation)
	}
}

func TestCompletionIsBounded(t *testing.T) {
	files := map[string]string{"MEMORY.md": "[x](\n"}
	for i := range 250 {
		files[fmt.Sprintf("t%03d.md", i)] = ""
	}
	s := read(t, files, nil)
	d, err := s.Doc("MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	if items, incomplete := language.Complete(s, d, 4); len(items) != 200 || !incomplete {
		t.Errorf("%d items, incomplete %v", len(items), incomplete)
	}
	files["MEMORY.md"] = "[x](t01\n"
	s = read(t, files, nil)
	if d, err = s.Doc("MEMORY.md"); err != nil {
		t.Fatal(err)
	}
	if items, incomplete := language.Complete(s, d, 7); len(items) != 10 || incomplete {
		t.Errorf("%d items, incomplete %v", len(items), incomplete)
	}
}
