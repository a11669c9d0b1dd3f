package memfile

import (
	"strings"

	"mem/core/text"
)

// PutBack gives the edits that add an entry of an earlier text of the index, as it stood
// there and where it stood: behind the entry before it, else before the one behind it,
// as far as these are in the same section still; else below its heading; else beside the
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
			return x.put(o.Span.End, words)
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
	for _, h := range x.outline.Headings {
		if h.Text == section && section != "" {
			return x.below(h, words)
		}
	}
	for i := len(before) - 1; i >= 0; i-- {
		if o := x.lastOf(before[i], anywhere); o != nil {
			return x.put(o.Span.End, words)
		}
	}
	for i := range x.Entries {
		if x.Entries[i].List {
			return x.put(x.Entries[i].Span.Start, words)
		}
	}
	return x.Insert(strings.TrimSpace(words))
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

// below adds lines as the first ones of a section, with a blank line on either side.
func (x *Index) below(h Heading, words string) []text.Edit {
	eol := x.Text().EOL()
	if body := x.Text().String()[h.Line.End:]; body != "" && !strings.HasPrefix(body, "\n") && !strings.HasPrefix(body, "\r\n") {
		words += eol
	}
	return x.put(h.Line.End, eol+words)
}
