package language

import (
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// Symbol is a part of a file that an outline shows.
type Symbol struct {
	Name      string // never empty
	Detail    string
	Kind      SymbolKind
	Span      text.Span // all of it, its children included
	Selection text.Span // what names it; inside Span
	Children  []Symbol
}

// SymbolKind is what a Symbol is.
type SymbolKind int

// The kinds of symbols.
const (
	SectionSymbol SymbolKind = iota // a heading with what stands below it
	EntrySymbol                     // an entry of the index
	KeySymbol                       // a key of the frontmatter
)

const (
	symbolName   = 100 // characters
	symbolDetail = 150
)

// Symbols gives the outline of a file: the keys of the frontmatter, then the
// headings, each with those below it; in the index the entries stand below their
// headings.
func Symbols(d *diagnostics.Doc) []Symbol {
	all := keySymbols(d)
	var entries []memfile.Entry
	if d.Index != nil {
		entries = d.Index.Entries
	}
	hs := d.Outline().Headings
	for len(entries) > 0 && (len(hs) == 0 || entries[0].Span.Start < hs[0].Line.Start) {
		all = append(all, entrySymbol(d, entries[0]))
		entries = entries[1:]
	}
	for len(hs) > 0 {
		var s Symbol
		s, hs, entries = section(d, hs, entries)
		all = append(all, s)
	}
	return all
}

// section makes the symbol of the first heading with all that stands below it, and
// gives the headings and entries behind that. Levels are at most six, which bounds
// how deep it calls itself.
func section(d *diagnostics.Doc, hs []memfile.Heading, entries []memfile.Entry) (Symbol, []memfile.Heading, []memfile.Entry) {
	h := hs[0]
	s := Symbol{Name: shown(shownText(h.Text), symbolName, "(no title)"), Kind: SectionSymbol, Span: h.Section, Selection: lineOf(d, h)}
	hs = hs[1:]
	for len(entries) > 0 && entries[0].Span.Start < h.Section.End {
		if entries[0].Span.Start >= h.Line.End { // else the heading itself is the entry
			s.Children = append(s.Children, entrySymbol(d, entries[0]))
		}
		entries = entries[1:]
	}
	for len(hs) > 0 && hs[0].Level > h.Level {
		var below Symbol
		below, hs, entries = section(d, hs, entries)
		s.Children = append(s.Children, below)
		s.Span.End = below.Span.End
	}
	return s, hs, entries
}

func entrySymbol(d *diagnostics.Doc, e memfile.Entry) Symbol {
	return Symbol{Name: shown(e.Title, symbolName, e.Target), Detail: shown(e.Summary, symbolDetail, ""), Kind: EntrySymbol,
		Span: withoutEnd(d.File.Text, e.Span), Selection: e.Link.Span}
}

func keySymbols(d *diagnostics.Doc) []Symbol {
	if d.File.Front == nil {
		return nil
	}
	var all []Symbol
	for i := range d.File.Front.Keys {
		k := &d.File.Front.Keys[i]
		s := Symbol{Name: shown(k.Name, symbolName, `""`), Detail: shown(k.Value, symbolDetail, ""), Kind: KeySymbol,
			Span: withoutEnd(d.File.Text, k.Span), Selection: nameOf(d, k)}
		if n := len(all); k.Parent != "" && n > 0 && all[n-1].Span.Start <= s.Span.Start && s.Span.End <= all[n-1].Span.End {
			all[n-1].Children = append(all[n-1].Children, s)
			continue
		}
		all = append(all, s)
	}
	return all
}

// shown gives words for an outline, or instead where there are none.
func shown(words string, most int, instead string) string {
	words = memdir.Shown(strings.ToValidUTF8(words, "\uFFFD"), most)
	if words == "" {
		return instead
	}
	return words
}

// withoutEnd takes the ending of the last line off a span.
func withoutEnd(t *text.Text, s text.Span) text.Span {
	if s.Len() == 0 {
		return s
	}
	s.End = max(s.Start, min(s.End, t.Line(t.LineAt(s.End-1)).End))
	return s
}
