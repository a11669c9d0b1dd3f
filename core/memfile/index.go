package memfile

import (
	"path"
	"sort"
	"strings"

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
}

// Entry is a line of the index that links a topic.
type Entry struct {
	Line    int       // from 0
	Span    text.Span // the whole line with its ending, and the indented lines that continue it
	Link    Link
	Title   string
	Target  string // path of the topic, cleaned
	Summary string // the text after the dash
	List    bool   // a list line; others stand in tables, headings or prose
	Indent  int    // bytes of white space before the list mark
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
	for i := range x.Entries {
		if x.Entries[i].Target == p {
			return &x.Entries[i]
		}
	}
	return nil
}

func (x *Index) findEntries() {
	t := x.Text()
	lastLine := -1
	for _, l := range x.Links {
		target := l.Path()
		if target == "" || !IsMarkdown(target) {
			continue
		}
		line := t.LineAt(l.Span.Start)
		if line == lastLine {
			continue // the first link of a line is what the line is about
		}
		lastLine = line
		e := Entry{Line: line, Span: t.FullLine(line), Link: l, Target: target,
			Title: strings.TrimSpace(t.Slice(l.Text))}
		raw := t.Slice(t.Line(line))
		if indent, ok := listMark(raw); ok {
			e.List, e.Indent = true, indent
		}
		e.Summary = summaryOf(t.String()[l.Span.End:t.Line(line).End])
		x.Entries = append(x.Entries, e)
	}
	linked := map[int]bool{}
	for _, e := range x.Entries {
		linked[e.Line] = true
	}
	for i := range x.Entries {
		e := &x.Entries[i]
		for j := e.Line + 1; e.List && j < t.Lines() && !linked[j]; j++ {
			l := t.Slice(t.Line(j))
			_, list := listMark(l)
			if strings.TrimSpace(l) == "" || list || indentWidth(l) <= e.Indent {
				break
			}
			e.Span.End = t.FullLine(j).End
		}
	}
}

// IsMarkdown reports whether a path has the extension of memory files.
func IsMarkdown(p string) bool { return strings.EqualFold(path.Ext(p), ".md") }

func indentWidth(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }

// listMark reports whether a line is a list item, and its indent.
func listMark(l string) (indent int, ok bool) {
	indent = indentWidth(l)
	rest := l[indent:]
	if len(rest) > 1 && strings.ContainsRune("-*+", rune(rest[0])) && (rest[1] == ' ' || rest[1] == '\t') {
		return indent, true
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(rest) && (rest[n] == '.' || rest[n] == ')') && (rest[n+1] == ' ' || rest[n+1] == '\t') {
		return indent, true
	}
	return 0, false
}

// summaryOf takes the mark of emphasis and the dash from what follows a link.
func summaryOf(rest string) string {
	rest = strings.TrimSpace(rest)
	rest = strings.TrimSpace(strings.TrimLeft(rest, "*_"))
	for _, dash := range []string{"—", "–", "--", "-", ":", "|"} {
		if s, ok := strings.CutPrefix(rest, dash); ok {
			rest = s
			break
		}
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "|"))
}

// EntryLine gives the text of an entry without line ending, in the shape that
// nearly all real ones have.
func EntryLine(title, target, summary string) string {
	title = OneLine(title)
	if strings.Count(title, "[") != strings.Count(title, "]") {
		title = strings.NewReplacer("[", "(", "]", ")").Replace(title)
	}
	line := "- [" + title + "](" + EncodeDest(target) + ")"
	if summary = OneLine(summary); summary != "" {
		line += " — " + summary
	}
	return line
}

// OneLine folds all white space to single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

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
		mark := ""
		if rest := t.String()[at+first.Indent:]; strings.HasPrefix(rest, "* ") || strings.HasPrefix(rest, "+ ") {
			mark = rest[:1]
		}
		if mark != "" {
			line = mark + strings.TrimPrefix(line, "-")
		}
		return []text.Edit{{Span: text.Span{Start: at, End: at}, New: indent + line + eol}}
	}
	at := x.File.Body.Start
	new := line + eol
	if hs := x.outline.Headings; len(hs) > 0 {
		at = hs[0].Line.End
		if !strings.HasSuffix(t.Slice(hs[0].Line), "\n") {
			new = eol + new
		}
		new = eol + new
		rest := t.String()[at:]
		if rest != "" && !strings.HasPrefix(rest, "\n") && !strings.HasPrefix(rest, "\r\n") {
			new += eol
		}
	} else if strings.TrimSpace(t.String()[at:]) != "" {
		new += eol
	}
	return []text.Edit{{Span: text.Span{Start: at, End: at}, New: new}}
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

// Remove gives the edits that take out every entry of a topic; a line that is
// no list item keeps its text and loses only the link.
func (x *Index) Remove(p string) []text.Edit {
	var edits []text.Edit
	for _, e := range x.Entries {
		if e.Target != p {
			continue
		}
		if e.List {
			edits = append(edits, text.Edit{Span: e.Span})
			continue
		}
		edits = append(edits, text.Edit{Span: e.Link.Span, New: x.Text().Slice(e.Link.Text)})
	}
	return edits
}

// Rewrite gives the edits that give an entry's line a new title and summary
// and leave list mark, indent and line ending alone.
func (x *Index) Rewrite(e Entry, title, summary string) []text.Edit {
	t := x.Text()
	line := t.Line(e.Line)
	old := t.Slice(text.Span{Start: e.Link.Span.Start, End: line.End})
	new := strings.TrimPrefix(EntryLine(title, e.Target, summary), "- ")
	new = strings.Replace(new, "]("+EncodeDest(e.Target)+")", "]("+rawDest(t, e.Link)+")", 1)
	if old == new {
		return nil
	}
	return []text.Edit{{Span: text.Span{Start: e.Link.Span.Start, End: line.End}, New: new}}
}

// rawDest gives the destination as written, angle brackets included.
func rawDest(t *text.Text, l Link) string {
	if t.String()[l.Dest.Start-1] == '<' {
		return "<" + t.Slice(l.Dest) + ">"
	}
	return t.Slice(l.Dest)
}
