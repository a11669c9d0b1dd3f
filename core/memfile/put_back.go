package memfile

import (
	"slices"
	"sort"
	"strings"

	"mem/core/text"
)

// PutBack gives the edits that add an entry of an earlier text of the index, as it stood
// there and where it stood: behind the entry before it, else before the one behind it,
// as far as these are in the same section still; else first in its section; else beside the
// nearest entry before it that is left, or before the first. Where none is, it is inserted as
// a new one.
//
// Several entries are put back in their order, each into the text that the one before left.
func (x *Index) PutBack(earlier *Index, e Entry) []text.Edit {
	i := 0
	for i < len(earlier.Entries) && earlier.Entries[i].Span.Start < e.Span.Start {
		i++
	}
	before, behind := earlier.Entries[:i], earlier.Entries[i:]
	for len(behind) > 0 && behind[0].Span.Start == e.Span.Start {
		behind = behind[1:]
	}
	words := strings.TrimRight(earlier.Text().Slice(e.Span), "\r\n")
	section := earlier.heading(e.Span.Start)
	near := func(o Entry) bool { return earlier.heading(o.Span.Start) == section }
	there := func(o *Entry) bool { return x.heading(o.Span.Start) == section }
	anywhere := func(*Entry) bool { return true }

	for i := len(before) - 1; i >= 0 && near(before[i]); i-- {
		if o := x.lastOf(before[i], there); o != nil {
			return x.put(x.below(o, behind), words)
		}
	}
	for _, o := range behind {
		if !near(o) {
			break
		}
		if o := x.firstOf(o, there); o != nil {
			return x.put(o.Span.Start, words)
		}
	}
	for i := range x.Entries {
		if o := &x.Entries[i]; o.List && there(o) {
			return x.put(o.Span.Start, words)
		}
	}
	for _, h := range x.outline.Headings {
		if h.Text == section && section != "" {
			return x.under(h, words)
		}
	}
	for i := len(before) - 1; i >= 0; i-- {
		if o := x.lastOf(before[i], anywhere); o != nil {
			return x.put(x.below(o, behind), words)
		}
	}
	for i := range x.Entries {
		if x.Entries[i].List {
			return x.put(x.Entries[i].Span.Start, words)
		}
	}
	return x.Insert(strings.TrimSpace(words))
}

// at gives the entry that begins on a line.
func (x *Index) at(line int) *Entry {
	i := sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Line >= line })
	if i < len(x.Entries) && x.Entries[i].Line == line {
		return &x.Entries[i]
	}
	return nil
}

// below gives where what belongs to an entry ends: the lines that are indented below it, as
// far as they are none of the entries that came behind.
func (x *Index) below(e *Entry, behind []Entry) int {
	t := x.Text()
	end := e.Span.End
	for i := t.LineAt(max(end-1, e.Span.Start)) + 1; i < t.Lines(); i++ {
		l := lineText(t, i)
		o := x.at(i)
		if blank(l) || indentOf(l) <= e.Indent || o != nil && slices.ContainsFunc(behind, func(b Entry) bool { return b.Target == o.Target }) {
			break
		}
		end = t.FullLine(i).End
	}
	return end
}

// heading gives the words of the heading above an offset, "" before the first.
func (x *Index) heading(offset int) string {
	if i := x.sectionOf(offset); i >= 0 {
		return x.outline.Headings[i].Text
	}
	return ""
}

// lastOf gives the last line of a list that leads where an entry of another text does.
func (x *Index) lastOf(e Entry, also func(*Entry) bool) *Entry {
	if !e.List || x.Entry(e.Target) == nil { // the usual case, without a look at all of them
		return nil
	}
	for i := len(x.Entries) - 1; i >= 0; i-- {
		if o := &x.Entries[i]; o.Target == e.Target && o.List && also(o) {
			return o
		}
	}
	return nil
}

func (x *Index) firstOf(e Entry, also func(*Entry) bool) *Entry {
	if !e.List || x.Entry(e.Target) == nil {
		return nil
	}
	for i := range x.Entries {
		if o := &x.Entries[i]; o.Target == e.Target && o.List && also(o) {
			return o
		}
	}
	return nil
}

// put adds lines at the begin of a line, or at the end of the text.
func (x *Index) put(at int, words string) []text.Edit {
	eol := x.Text().EOL()
	words += eol
	if head := x.Text().String()[:at]; head != "" && head != text.BOM && !strings.HasSuffix(head, "\n") {
		words = eol + words
	}
	return []text.Edit{{Span: text.Span{Start: at, End: at}, New: words}}
}

// under adds lines as the first ones of a section, with a blank line on either side; blank
// lines at the end of the text give way.
func (x *Index) under(h Heading, words string) []text.Edit {
	eol, src := x.Text().EOL(), x.Text().String()
	at := h.Line.End
	if line, _, more := strings.Cut(src[at:], "\n"); more && blank(line) {
		at += len(line) + 1
	} else {
		words = eol + words
	}
	rest := src[at:]
	if blank(strings.ReplaceAll(rest, "\n", "")) {
		edits := x.put(at, words)
		edits[0].Span.End = len(src)
		return edits
	}
	if line, _, _ := strings.Cut(rest, "\n"); !blank(line) {
		words += eol
	}
	return x.put(at, words)
}
