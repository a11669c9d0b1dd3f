package lspserver

import (
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"

	"mem/core/text"
)

// An edit is made where the client made it, or not at all, whichever way it counts a
// "\r" without a "\n": here are all texts of such pieces, and clients of both kinds.
func TestEditsOfBothReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\r", "\n", "\r\n", "😀"}), 0, 10).Draw(t, "src"), "")
		doc := text.New(src)
		place := func(name string) int {
			runes := []rune(src)
			at := rapid.IntRange(0, len(runes)).Draw(t, name)
			if at > 0 && at < len(runes) && runes[at-1] == '\r' && runes[at] == '\n' {
				at--
			}
			return len(string(runes[:at]))
		}
		from, to := place("from"), place("to")
		want := text.Span{Start: min(from, to), End: max(from, to)}
		for _, client := range []*text.Text{doc, doc.ProtocolLines()} {
			for _, enc := range []text.Encoding{text.UTF8, text.UTF16, text.UTF32} {
				at := protocol.Range{Start: position(client, want.Start, enc), End: position(client, want.End, enc)}
				got, err := editedSpan(doc, at, reading{enc: enc})
				if err == nil && got != want {
					t.Fatalf("%q: the client edited %v at %v, and %v was edited", src, want, at, got)
				}
				if agree := doc.Position(want.Start, enc) == doc.ProtocolLines().Position(want.Start, enc) &&
					doc.Position(want.End, enc) == doc.ProtocolLines().Position(want.End, enc); agree && err != nil {
					t.Fatalf("%q: an edit of %v, where all agree, is refused: %v", src, want, err)
				}
			}
		}
		// A client that is known keeps the "\r" in its line.
		at := protocol.Range{Start: position(doc, want.Start, text.UTF16), End: position(doc, want.End, text.UTF16)}
		if got, err := editedSpan(doc, at, reading{text.UTF16, true}); err != nil || got != want {
			t.Fatalf("%q: Vim edited %v, and %v was edited, %v", src, want, got, err)
		}
	})
}

const crIndex = "- [a](gone-1.md) — x\n- [b](b.md) — one\rtwo\n- [c](gone-2.md) — y\n"

// Findings are shown where the client has the place; edits are offered where that is
// sure, and made by nobody anywhere else.
func TestCarriageReturnInALine(t *testing.T) {
	for _, c := range []struct {
		client string
		line   int  // of what is wrong behind the "\r"
		sure   bool // it can be mended there
	}{
		{"Neovim", 2, true}, {"Eglot", 2, true}, {"coc.nvim", 2, true}, {"helix", 3, false}, {"", 3, false},
	} {
		for _, lazy := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s lazy %v", c.client, lazy), func(t *testing.T) {
				e := start(t, map[string]string{"MEMORY.md": crIndex, "b.md": topicOf("b", "what b is")})
				caps := capable
				if !lazy {
					caps = strings.Replace(caps, `"resolveSupport":{"properties":["edit"]}`, `"resolveSupport":{"properties":[]}`, 1)
				}
				e.initializeAs(c.client, caps)
				e.open("MEMORY.md", crIndex)
				lines := map[int]bool{}
				for _, d := range e.shown("MEMORY.md", 1) {
					if d.Code == "broken-link" {
						lines[d.Range.Start.Line] = true
					}
				}
				if !lines[0] || !lines[c.line] || len(lines) != 2 {
					t.Errorf("shown in the lines %v, want 0 and %d", lines, c.line)
				}
				for line, want := range map[int]bool{0: true, c.line: c.sure} {
					var offered []action
					for _, a := range e.lightbulb("MEMORY.md", span{point{line, 6}, point{line, 6}}, "") {
						if a.Disabled == nil && a.Title == "Remove the entry" {
							offered = append(offered, a)
						}
					}
					if (len(offered) > 0) != want {
						t.Fatalf("line %d: %d actions, want some: %v", line, len(offered), want)
					}
					if !want {
						continue
					}
					a := offered[0]
					if lazy {
						a = e.take(a)
					}
					after := crIndex[strings.Index(crIndex, "\n")+1:]
					if line > 0 {
						after = crIndex[:strings.Index(crIndex, "- [c]")]
					}
					if got := e.made(a)["MEMORY.md"]; got != after {
						t.Errorf("line %d: made %q, want %q", line, got, after)
					}
				}
			})
		}
	}
}

// A text of which nobody knows what it is, is left alone until it comes whole.
func TestEditBehindACarriageReturn(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "x\n"})
	e.initializeAs("helix", capable)
	e.open("MEMORY.md", "ab\rcd\nef\ngh\n")
	e.edit("MEMORY.md", replace(0, 1, 0, 1, "1")) // before it, all agree
	e.edit("MEMORY.md", replace(3, 0, 3, 0, "2")) // there is such a line in both, and it is not the same
	e.warned(1, "do not agree")
	if got := e.text("MEMORY.md"); got != "(lost)" {
		t.Errorf("the text is taken for %q", got)
	}
	e.change("MEMORY.md", "a1b\rcd\nef\n2gh\n")
	e.shown("MEMORY.md", e.version)

	n := start(t, map[string]string{"MEMORY.md": "x\n"})
	n.initializeAs("Neovim", capable)
	n.open("MEMORY.md", "ab\rcd\nef\ngh\n")
	n.edit("MEMORY.md", replace(2, 0, 2, 0, "2"))
	if got := n.text("MEMORY.md"); got != "ab\rcd\nef\n2gh\n" {
		t.Errorf("the text is %q", got)
	}
}
