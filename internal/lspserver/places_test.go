package lspserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"mem/core/text"
)

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// mark takes the mark ‸ out of a text, and gives the place where it stood as an
// editor counts it.
func mark(t *testing.T, enc, src string) (string, point) {
	t.Helper()
	before, after, ok := strings.Cut(src, "‸")
	if !ok {
		t.Fatalf("no mark in %q", src)
	}
	line := before[strings.LastIndex(before, "\n")+1:]
	return before + after, point{strings.Count(before, "\n"), units(text.Encoding(enc), line)}
}

// under gives the text under a range.
func under(t *testing.T, enc, src string, s span) string {
	t.Helper()
	in := text.New(src)
	at, err := in.SpanOf(text.Position(s.Start), text.Position(s.End), text.Encoding(enc))
	if err != nil {
		t.Errorf("%s in %q: %v", s, src, err)
	}
	return in.Slice(at)
}

// Places are the ones that are meant, in every encoding, behind CJK and emoji, with
// either kind of line end.
func TestPlaces(t *testing.T) {
	topic := "---\nname: 记忆\ndescription: 关于 😀\ntype: user\n---\n\n# 标题 😀\n\n见 [[二]] 和 [二](二.md)。\n"
	second := "---\nname: 二\ndescription: d\ntype: project\n---\n\n# Two\n"
	for _, enc := range []string{"utf-8", "utf-16", "utf-32"} {
		for _, eol := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%s %q", enc, eol), func(t *testing.T) {
				files := map[string]string{"记忆.md": topic, "二.md": second}
				marked := text.WithEOL("# 索引 😀\n\n- 😀😀 [记忆](‸%E8%AE%B0%E5%BF%86.md) — 摘要\n- [two](二.md) — x\n", eol)
				index, at := mark(t, enc, marked)
				files["MEMORY.md"] = index
				e := start(t, files)
				e.initialize(offering(enc))
				e.open("MEMORY.md", index)
				e.open("记忆.md", text.WithEOL(topic, eol))
				place := func(name string, at point) map[string]any {
					return map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": at}
				}

				var hover struct {
					Contents struct{ Kind, Value string }
					Range    span
				}
				e.ask("textDocument/hover", place("MEMORY.md", at), &hover)
				if hover.Contents.Kind != "markdown" || !strings.Contains(hover.Contents.Value, "关于 😀") || !strings.Contains(under(t, enc, index, hover.Range), "记忆") {
					t.Errorf("hover: %+v over %q", hover, under(t, enc, index, hover.Range))
				}

				var to []location
				e.ask("textDocument/definition", place("MEMORY.md", at), &to)
				if len(to) != 1 || to[0].URI != e.uri("记忆.md") {
					t.Errorf("definition: %+v", to)
				}

				e.ask("textDocument/references", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}, "position": point{3, 8}, "context": map[string]any{"includeDeclaration": true}}, &to)
				var found []string
				for _, l := range to {
					src := map[string]string{e.uri("MEMORY.md"): index, e.uri("记忆.md"): text.WithEOL(topic, eol), e.uri("二.md"): second}[l.URI]
					found = append(found, under(t, enc, src, l.Range))
				}
				if len(to) != 4 {
					t.Errorf("references: %q", found)
				}
				for _, f := range found {
					if !strings.Contains(f, "二") {
						t.Errorf("references: %q", found)
					}
				}

				var links []struct {
					Range  span
					Target string
				}
				e.ask("textDocument/documentLink", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}}, &links)
				if len(links) != 2 || links[0].Target != e.uri("记忆.md") || under(t, enc, index, links[0].Range) != "%E8%AE%B0%E5%BF%86.md" {
					t.Errorf("links: %+v", links)
				}

				var symbols []struct {
					Name           string
					Range          span
					SelectionRange span
					Children       []json.RawMessage
				}
				e.ask("textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}}, &symbols)
				if len(symbols) != 1 || !strings.Contains(symbols[0].Name, "索引 😀") || len(symbols[0].Children) != 2 || under(t, enc, index, symbols[0].Range) == "" {
					t.Errorf("symbols: %+v", symbols)
				}

				half, at := mark(t, enc, text.WithEOL("# 索引 😀\n\n😀 [[二‸\n", eol))
				e.change("MEMORY.md", half)
				var list struct {
					Items []struct {
						Label    string
						TextEdit textEdit
					}
				}
				e.ask("textDocument/completion", place("MEMORY.md", at), &list)
				if len(list.Items) != 1 || list.Items[0].Label != "二" || under(t, enc, half, list.Items[0].TextEdit.Range) != "二" {
					t.Errorf("completion: %+v", list)
				}
			})
		}
	}
}

// A client that knows no trees gets a list; one that knows links gets them.
func TestPlacesOfOtherClients(t *testing.T) {
	index := "# M\n\n## Part\n\n- [a](a.md) — x\n"
	e := start(t, map[string]string{"MEMORY.md": index, "a.md": "a\n"})
	e.initialize(`{"textDocument":{"definition":{"linkSupport":true}}}`)
	e.open("MEMORY.md", index)
	var symbols []struct {
		Name, ContainerName string
		Location            location
	}
	e.ask("textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}}, &symbols)
	if len(symbols) != 3 || symbols[1].Name != "Part" || symbols[1].ContainerName != "M" || symbols[2].ContainerName != "Part" || symbols[2].Location.URI != e.uri("MEMORY.md") {
		t.Errorf("symbols: %+v", symbols)
	}
	var links []struct {
		TargetURI            string `json:"targetUri"`
		OriginSelectionRange *span
	}
	e.ask("textDocument/definition", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}, "position": point{4, 7}}, &links)
	if len(links) != 1 || links[0].TargetURI != e.uri("a.md") || links[0].OriginSelectionRange == nil {
		t.Errorf("definition: %+v", links)
	}
	var hover struct{ Contents struct{ Kind string } }
	e.ask("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}, "position": point{4, 7}}, &hover)
	if hover.Contents.Kind != "plaintext" {
		t.Errorf("hover is %s", hover.Contents.Kind)
	}
}

// What is asked of files that are no memory, or at places that are none, is
// answered with nothing.
func TestPlacesThatAreNone(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n"})
	e.initialize(capable)
	e.open("MEMORY.md", "# M\n- [a](a.md\n")
	e.open("README.md", "[a](a.md)\n")
	e.open(".mem.yaml", "x: y\n")
	for _, method := range []string{"hover", "completion", "definition", "references", "documentLink", "documentSymbol", "codeAction", "diagnostic"} {
		for _, name := range []string{"MEMORY.md", "README.md", ".mem.yaml", "closed.md", "../../out.md"} {
			for _, at := range []point{{0, 0}, {1, 9}, {1, 1 << 30}, {1 << 30, 5}} {
				m := e.answer(e.post("textDocument/"+method, map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": at,
					"range": span{at, at}, "context": map[string]any{"diagnostics": []any{}, "includeDeclaration": true}}))
				if m.Error != nil {
					t.Errorf("%s of %s at %v: %+v", method, name, at, m.Error)
				}
				if !utf8.Valid(m.Result) {
					t.Errorf("%s of %s: %q", method, name, m.Result)
				}
			}
		}
	}
	for _, u := range []string{"untitled:1", "", "file:", "http://x/MEMORY.md"} {
		if m := e.answer(e.post("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": u}, "position": point{}})); m.Error != nil || string(m.Result) != "null" {
			t.Errorf("hover of %q: %+v %s", u, m.Error, m.Result)
		}
	}
}
