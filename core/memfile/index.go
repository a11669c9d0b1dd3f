package memfile

import (
	"path"
	"sort"
	"strings"
	"unicode"

	"mem/core/text"
)

// IndexName is the file name of every index.
const IndexName = "MEMORY.md"

// Index is a parsed MEMORY.md. It is immutable.
type Index struct {
	File    *File
	Exists  bool
	Hash    string // "" when the file does not exist
	Entries []Entry
	Links   []Link // every link, entries' own included

	outline Outline
	places  places
}

// Entry is a line of the index that links a topic.
type Entry struct {
	Line    int       // from 0
	Span    text.Span // the whole line with its ending, without a BOM, and the indented lines that continue it
	Link    Link
	Title   string
	Target  string // path of the topic, cleaned
	Summary string // the text after the dash, with the lines that continue it
	List    bool   // a list line; others stand in tables, headings or prose
	Indent  int    // bytes of white space before the list mark

	summary text.Span // where the summary stands on the entry's own line
}

// ParseIndex parses the text of an index; it accepts any text.
func ParseIndex(src string) *Index {
	x := &Index{File: Parse(src), Exists: true, Hash: text.Hash(src)}
	x.outline = x.File.Outline()
	x.Links = Links(x.File.Text, x.File.Body, x.outline)
	x.findEntries()
	return x
}

// NoIndex is the index of a directory that has none yet.
func NoIndex() *Index {
	x := ParseIndex("")
	x.Exists, x.Hash = false, ""
	return x
}

// Text gives the document.
func (x *Index) Text() *text.Text { return x.File.Text }

// Outline gives the block structure of the index.
func (x *Index) Outline() Outline { return x.outline }

// Notebook reports whether the index is prose without a single link, as one in
// five real ones is. Rules about entries do not apply to it.
func (x *Index) Notebook() bool { return len(x.Links) == 0 }

// Entry gives the first entry that links the topic at p, nil when there is none.
func (x *Index) Entry(p string) *Entry {
	if len(x.Entries) > few {
		if i, ok := x.place().entry[p]; ok {
			return &x.Entries[i]
		}
		return nil
	}
	for i := range x.Entries {
		if x.Entries[i].Target == p {
			return &x.Entries[i]
		}
	}
	return nil
}

// SummarySpan gives where the summary stands on the entry's own line, without the
// lines that continue it. It is empty, at the end of the line, where there is none.
func (e Entry) SummarySpan() text.Span { return e.summary }

func (x *Index) findEntries() {
	t := x.Text()
	x.Entries = make([]Entry, 0, len(x.Links))
	lastLine := -1
	for _, l := range x.Links {
		target := l.Path()
		if target == "" || !IsMarkdown(target) {
			continue
		}
		line := t.LineAt(l.Span.Start)
		if line <= lastLine {
			continue // the first link of a line is what the line is about
		}
		lastLine = t.LineAt(l.Span.End - 1)
		e := Entry{Line: line, Span: text.Span{Start: t.FullLine(line).Start, End: t.FullLine(lastLine).End},
			Link: l, Target: target, Title: OneLine(t.Slice(l.Text))}
		if line == 0 && t.HasBOM() {
			e.Span.Start = len(text.BOM)
		}
		if indent, ok := listMark(lineText(t, line)); ok {
			e.List, e.Indent = true, indent
		}
		e.summary = summaryAt(t.String(), text.Span{Start: l.Span.End, End: t.Line(lastLine).End}, e.List)
		e.Summary = OneLine(t.Slice(e.summary))
		x.Entries = append(x.Entries, e)
	}
	x.findContinuations()
}

// findContinuations adds to the entries of lists the indented lines of text that
// follow them.
func (x *Index) findContinuations() {
	t := x.Text()
	for i := range x.Entries {
		e := &x.Entries[i]
		next := t.Lines()
		if i+1 < len(x.Entries) {
			next = x.Entries[i+1].Line // they stand one below the other
		}
		for j := t.LineAt(e.Span.End-1) + 1; e.List && j < next; j++ {
			l := lineText(t, j)
			_, list := listMark(l)
			if blank(l) || list || indentOf(l) <= e.Indent || In(x.outline.Code, t.Line(j).Start+indentOf(l)) {
				break
			}
			e.Span.End = t.FullLine(j).End
		}
		if more := t.FullLine(t.LineAt(e.Link.Span.End - 1)).End; e.Span.End > more {
			e.Summary = OneLine(e.Summary + " " + t.String()[more:e.Span.End])
		}
	}
}

// IsMarkdown reports whether a path has the extension of memory files.
func IsMarkdown(p string) bool { return strings.EqualFold(path.Ext(p), ".md") }

// listMark reports whether a line is a list item, and its indent.
func listMark(l string) (indent int, ok bool) {
	indent = indentOf(l)
	mark := markOf(l[indent:])
	return indent, mark != "" && len(l) > indent+len(mark)
}

// markOf gives the list mark that l starts with: "-", "*", "+" or a number with
// its dot or parenthesis. White space or the end of the line has to follow.
func markOf(l string) string {
	n := 0
	for n < len(l) && n < 9 && l[n] >= '0' && l[n] <= '9' {
		n++
	}
	switch {
	case n == len(l):
		return ""
	case n == 0 && !strings.ContainsRune("-*+", rune(l[0])), n > 0 && l[n] != '.' && l[n] != ')':
		return ""
	case n+1 < len(l) && l[n+1] != ' ' && l[n+1] != '\t':
		return ""
	}
	return l[:n+1]
}

// summaryAt gives the part of what follows a link that is its summary: without
// marks of emphasis, the dash, and the bars of a table.
func summaryAt(src string, rest text.Span, list bool) text.Span {
	if !list {
		if bar := strings.IndexByte(src[rest.Start:rest.End], '|'); bar >= 0 && strings.TrimSpace(src[rest.Start:rest.Start+bar]) == "" {
			rest.Start += bar + 1
			if next := strings.IndexByte(src[rest.Start:rest.End], '|'); next >= 0 {
				rest.End = rest.Start + next // the cell next to the link's
			}
			return trimmed(src, rest)
		}
	}
	rest = trimmed(src, rest)
	for rest.Len() > 0 && (src[rest.Start] == '*' || src[rest.Start] == '_') {
		rest.Start++
	}
	rest = trimmed(src, rest)
	for _, dash := range []string{"—", "–", "--", "-", ":"} {
		if strings.HasPrefix(src[rest.Start:rest.End], dash) {
			rest.Start += len(dash)
			for dash == ":" && rest.Len() > 0 && src[rest.Start] == '*' {
				rest.Start++ // "**[title](x.md):** summary"
			}
			break
		}
	}
	return trimmed(src, rest)
}

// EntryLine gives the text of an entry without line ending, in the shape that
// nearly all real ones have. Marks in the title that would break the link are
// left out.
func EntryLine(title, target, summary string) string {
	return "- " + entryLink(title, angled(EncodePath(target)), summary)
}

// entryLink gives an entry from its "[" on; dest is a destination as written.
func entryLink(title, dest, summary string) string {
	if summary = OneLine(summary); summary != "" {
		summary = " — " + summary
	}
	title = OneLine(title)
	for _, drop := range []string{"", "[]", "[]`", "[]`<>\\!"} {
		title = OneLine(strings.Map(func(r rune) rune {
			if strings.ContainsRune(drop, r) {
				return -1
			}
			return r
		}, title))
		if line := "[" + title + "](" + dest + ")" + summary; linksWhole(line, title) {
			return line
		}
	}
	return "[" + title + "](" + dest + ")" + summary
}

// linksWhole reports whether a line starts with a link that shows title.
func linksWhole(line, title string) bool {
	x := ParseIndex("- " + line)
	return len(x.Links) > 0 && x.Links[0].Span.Start == 2 && !x.Links[0].Wiki && x.Text().Slice(x.Links[0].Text) == title
}

// OneLine folds all white space to single spaces.
func OneLine(s string) string {
	if folded(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// folded reports whether all white space of s is single spaces inside of it, as in
// nearly all titles and summaries.
func folded(s string) bool {
	after := true // a space, or the start
	for _, r := range s {
		if ' ' < r && r < 0x7f {
			after = false
			continue
		}
		space := r == ' '
		if space && after || !space && unicode.IsSpace(r) {
			return false
		}
		after = space
	}
	return !after || s == ""
}

// Insert gives the edits that add an entry: first in the list with the most
// links, so that a cut never takes the newest; without such a list as a new one
// below the first heading, else at the top.
func (x *Index) Insert(line string) []text.Edit {
	t := x.Text()
	eol := t.EOL()
	if first := x.bestList(); first != nil {
		at := t.FullLine(first.Line).Start
		if at == 0 && t.HasBOM() {
			at = len(text.BOM)
		}
		indent := t.String()[at : at+first.Indent]
		mark := markOf(t.Slice(text.Span{Start: at + first.Indent, End: t.Line(first.Line).End}))
		line = mark + strings.TrimPrefix(line, "-")
		return []text.Edit{{Span: text.Span{Start: at, End: at}, New: indent + line + eol}}
	}
	at := x.File.Body.Start
	before, after := "", eol // a blank line on either side, but at the ends of the file
	if hs := x.outline.Headings; len(hs) > 0 {
		at, before = hs[0].Line.End, eol
	}
	head, rest := t.String()[:at], t.String()[at:]
	if head != "" && head != text.BOM && !strings.HasSuffix(head, "\n") {
		before = eol + before
	}
	if blank(rest) || strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n") {
		after = ""
	}
	return []text.Edit{{Span: text.Span{Start: at, End: at}, New: before + line + eol + after}}
}

// bestList gives the first top-level entry of the list with the most links, nil
// when no list holds a link. A list ends at a heading.
func (x *Index) bestList() *Entry {
	var best, first *Entry
	bestN, n, section := 0, 0, -2
	for i := range x.Entries {
		e := &x.Entries[i]
		if !e.List {
			continue
		}
		if s := x.sectionOf(e.Span.Start); s != section {
			section, first, n = s, nil, 0
		}
		if first == nil || e.Indent < first.Indent {
			first = e
		}
		n++
		if n > bestN {
			best, bestN = first, n
		}
	}
	return best
}

// sectionOf gives the number of the heading above offset, -1 before the first.
func (x *Index) sectionOf(offset int) int {
	hs := x.outline.Headings
	return sort.Search(len(hs), func(i int) bool { return hs[i].Line.Start > offset }) - 1
}

// Remove gives the edits that take out every entry of a topic. A line that is no
// list item, or links other topics too, keeps its text and loses only the link.
func (x *Index) Remove(p string) []text.Edit {
	t := x.Text()
	var edits []text.Edit
	gone := 0 // end of the last line taken out
	for l := range x.linksTo(p) {
		if l.Span.Start < gone {
			continue
		}
		if e := x.entryAt(l); e != nil && e.List && !x.linksOthers(e, p) {
			edits = append(edits, text.Edit{Span: e.Span})
			gone = e.Span.End
			continue
		}
		edits = append(edits, text.Edit{Span: l.Span, New: t.Slice(l.Text)})
	}
	return withoutFinalNewline(t, edits)
}

// entryAt gives the entry on whose lines a link stands, nil when there is none.
func (x *Index) entryAt(l Link) *Entry {
	i := sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Span.End > l.Span.Start })
	if i < len(x.Entries) && x.Entries[i].Span.Contains(l.Span.Start) {
		return &x.Entries[i]
	}
	return nil
}

// linksOthers reports whether the lines of e link another topic than p.
func (x *Index) linksOthers(e *Entry, p string) bool {
	i := sort.Search(len(x.Links), func(i int) bool { return x.Links[i].Span.Start >= e.Span.Start })
	for ; i < len(x.Links) && x.Links[i].Span.Start < e.Span.End; i++ {
		if q := x.Links[i].Path(); q != "" && q != p && IsMarkdown(q) {
			return true
		}
	}
	return false
}

// withoutFinalNewline widens the removal of the last lines of a document that
// ends without a newline, so that it still does.
func withoutFinalNewline(t *text.Text, edits []text.Edit) []text.Edit {
	n := len(edits)
	if n == 0 || edits[n-1].New != "" || edits[n-1].End != t.Len() || strings.HasSuffix(t.String(), "\n") {
		return edits
	}
	for n > 1 && edits[n-2].New == "" && edits[n-2].End == edits[n-1].Start {
		edits[n-2].End = edits[n-1].End
		n--
	}
	last := &edits[n-1]
	for _, eol := range []string{"\r\n", "\n"} {
		if strings.HasSuffix(t.String()[:last.Start], eol) {
			last.Start -= len(eol)
			break
		}
	}
	return edits[:n]
}

// Rewrite gives the edits that give an entry a new title and summary and leave
// the rest of its line alone: mark, indent, emphasis, dash, cells, line ending.
func (x *Index) Rewrite(e Entry, title, summary string) []text.Edit {
	t := x.Text()
	var edits []text.Edit
	edit := func(s text.Span, new string) {
		if t.Slice(s) != new {
			edits = append(edits, text.Edit{Span: s, New: new})
		}
	}
	title, summary = OneLine(title), OneLine(summary)
	if e.Title != title {
		link := entryLink(title, rawDest(t, e.Link), summary)
		edit(e.Link.Text, link[1:strings.Index(link, "]("+rawDest(t, e.Link))])
	}
	if e.Summary == summary {
		return edits
	}
	switch {
	case e.summary.Len() > 0 && summary == "" && e.List:
		edit(text.Span{Start: e.Link.Span.End, End: e.summary.End}, x.afterLink(e, e.summary.Start))
	case e.summary.Len() > 0:
		edit(e.summary, summary)
	case e.List && summary != "":
		edit(text.Span{Start: e.Link.Span.End, End: e.summary.End}, x.afterLink(e, e.summary.End)+" — "+summary)
	}
	line := t.Line(t.LineAt(e.Link.Span.End - 1))
	if end := t.Line(t.LineAt(e.Span.End - 1)).End; end > line.End {
		edit(text.Span{Start: line.End, End: end}, "") // lines that continued the old summary
	}
	return edits
}

// afterLink gives the marks of emphasis directly behind an entry's link.
func (x *Index) afterLink(e Entry, end int) string {
	rest := x.Text().String()[e.Link.Span.End:end]
	return rest[:len(rest)-len(strings.TrimLeft(rest, "*_"))]
}

// rawDest gives the destination as written, angle brackets included.
func rawDest(t *text.Text, l Link) string {
	if t.String()[l.Dest.Start-1] == '<' {
		return "<" + t.Slice(l.Dest) + ">"
	}
	return t.Slice(l.Dest)
}
