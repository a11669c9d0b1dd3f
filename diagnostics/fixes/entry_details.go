package fixes

import (
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// details is what an entry of a list says beyond its title, and where it says so.
type details struct {
	x     *memfile.Index
	entry memfile.Entry
	line  text.Span // its own line, without BOM and line ending
	// words is the summary on one line, with the lines of plain text that go on
	// with it; nested are the other lines below it: lists, code.
	words  string
	nested string
	below  text.Span // the lines below the entry's own, from the end of that; empty where there are none
	closes string    // marks of emphasis that open before the link and close behind the summary
	keep   int       // bytes of words that stay: they link other topics
	marked int       // bytes of words that stay if they fit: emphasis that opens before the link closes in them
}

// entryAt gives the number of the entry on whose lines an offset stands, -1 when
// there is none.
func entryAt(x *memfile.Index, offset int) int {
	i := sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Span.End > offset })
	if i < len(x.Entries) && x.Entries[i].Span.Contains(offset) {
		return i
	}
	return -1
}

// movable reports whether the details of an entry may go into its topic: an entry
// of a list, on one line, that leads to a file which may be a topic.
func movable(x *memfile.Index, e *memfile.Entry) bool {
	return e.List && e.Link.Span.End <= x.Text().Line(e.Line).End && topicPath(e.Target)
}

// topicPath is memdir.CheckTopicPath, with a quick way out for the names that
// nearly all topics have.
func topicPath(p string) bool {
	stem := strings.TrimSuffix(p, ".md")
	plain := len(stem) > 4 && len(stem) < len(p) && len(p) < 100
	for i := 0; plain && i < len(stem); i++ {
		c := stem[i]
		plain = 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || i > 0 && (c == '-' || c == '_')
	}
	if plain && stem != "readme" && stem != "claude" && stem != "agents" && stem != "memory" {
		return true
	}
	return memdir.CheckTopicPath(p) == nil
}

// belowEnd gives the line behind the last one that belongs to entry number i: lines
// that are indented deeper and link no topic. Comments belong to nothing. Lines that
// another entry stands below stay with that, and so does code that is not closed.
func belowEnd(x *memfile.Index, i int) int {
	t, e := x.Text(), &x.Entries[i]
	stop := t.Lines()
	if i+1 < len(x.Entries) {
		stop = x.Entries[i+1].Line
	}
	end, indent := e.Line+1, indentOf(x, e)
	least, fence := -1, ""
	for j := end; j < stop; j++ {
		l := t.Slice(t.Line(j))
		trimmed := strings.TrimLeft(l, " \t")
		if trimmed == "" {
			continue
		}
		n := columns(l[:len(l)-len(trimmed)])
		if n <= indent || strings.Contains(l, "<!--") {
			break
		}
		switch {
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == "":
			fence = ""
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		}
		end = j + 1
		if least < 0 || n < least {
			least = n
		}
	}
	if fence == "" && (least < 0 || end < stop || i+1 == len(x.Entries) || indentOf(x, &x.Entries[i+1]) <= least) {
		return end
	}
	if continued := t.LineAt(e.Span.End-1) + 1; plainLines(t, e.Line+1, continued) {
		return continued
	}
	return e.Line + 1
}

// indentOf gives the columns before an entry's list mark.
func indentOf(x *memfile.Index, e *memfile.Entry) int {
	return columns(x.Text().String()[e.Span.Start : e.Span.Start+e.Indent])
}

// detailsOf reads entry number i, which is movable.
func detailsOf(x *memfile.Index, i int) details {
	t, e := x.Text(), x.Entries[i]
	d := details{x: x, entry: e, words: e.Summary, line: text.Span{Start: e.Span.Start, End: t.Line(e.Line).End}}
	first, end := e.Line+1, belowEnd(x, i)
	d.below = text.Span{Start: d.line.End, End: t.Line(end - 1).End}
	if continued := t.LineAt(e.Span.End-1) + 1; continued <= end && plainLines(t, first, continued) {
		first = continued
	} else {
		d.words = memfile.OneLine(t.Slice(e.SummarySpan()))
	}
	if first < end {
		d.nested = dedented(t, first, end)
	}
	d.findMarks()
	d.findKept()
	return d
}

// plainLines reports whether lines are text that can be folded into one line.
func plainLines(t *text.Text, from, to int) bool {
	for j := from; j < to; j++ {
		l := strings.TrimLeft(t.Slice(t.Line(j)), " \t")
		if l == "" || strings.ContainsRune("|#>", rune(l[0])) || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			return false
		}
	}
	return true
}

// dedented gives lines without the white space that all of them start with, with
// "\n" for line endings.
func dedented(t *text.Text, from, to int) string {
	var lines []string
	mixed, least := false, -1
	margin := ""
	for j := from; j < to; j++ {
		l := t.Slice(t.Line(j))
		lines = append(lines, l)
		if strings.TrimSpace(l) == "" {
			continue
		}
		indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
		if n := columns(indent); least < 0 || n < least {
			least, margin = n, indent
		}
	}
	for _, l := range lines {
		mixed = mixed || strings.TrimSpace(l) != "" && !strings.HasPrefix(l, margin)
	}
	for i, l := range lines {
		rest := strings.TrimLeft(l, " \t")
		switch {
		case rest == "":
			lines[i] = ""
		case mixed: // tabs in some lines, spaces in others
			lines[i] = strings.Repeat(" ", columns(l[:len(l)-len(rest)])-least) + rest
		default:
			lines[i] = l[len(margin):]
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// columns gives how far white space indents, as Markdown counts it.
func columns(indent string) int {
	n := 0
	for _, c := range indent {
		if n++; c == '\t' {
			n += (4 - n%4) % 4
		}
	}
	return n
}

// findMarks finds emphasis that opens before the link and closes in the summary, as
// in "**[Title](x.md) — summary**".
func (d *details) findMarks() {
	src := d.x.Text().String()
	head := src[d.line.Start:d.entry.Link.Span.Start]
	mark := head[len(strings.TrimRight(head, "*_~")):]
	if mark == "" || strings.HasPrefix(src[d.entry.Link.Span.End:d.line.End], mark) || strings.HasPrefix(src[d.entry.Link.Span.End:d.line.End], ":"+mark) {
		return
	}
	if own, ok := strings.CutSuffix(d.words, mark); ok && !strings.Contains(own, mark) {
		d.words, d.closes = strings.TrimRight(own, " "), mark
	} else if at := strings.Index(d.words, mark); at > 0 && d.words[at-1] != ' ' {
		d.marked = at + len(mark)
	}
}

// findKept finds the last link to another topic on the entry's line: only there
// does the index lead to that topic.
func (d *details) findKept() {
	links := d.x.Links
	last := -1
	for i := linkAfter(d.x, d.entry.Link.Span.End); i < len(links) && links[i].Span.Start < d.line.End; i++ {
		if p := links[i].Path(); p != "" && p != d.entry.Target && memfile.IsMarkdown(p) {
			last = i
		}
	}
	if last < 0 {
		return
	}
	written := memfile.OneLine(d.x.Text().Slice(links[last].Span))
	if at := strings.LastIndex(d.words, written); at >= 0 {
		d.keep = max(d.keep, at+len(written))
	}
}

// head gives the line up to the summary, with a dash where one is missing.
func (d *details) head() string {
	src, summary := d.x.Text().String(), d.entry.SummarySpan()
	if summary.Len() > 0 {
		return src[d.line.Start:summary.Start]
	}
	head := strings.TrimRight(src[d.line.Start:d.line.End], " \t")
	if strings.HasSuffix(head, "—") || strings.HasSuffix(head, "–") || strings.HasSuffix(head, "-") || strings.HasSuffix(head, ":") {
		return head + " "
	}
	return head + " — "
}

// cut is how an entry is shortened.
type cut struct {
	summary string   // what the line keeps
	rest    []string // what is to be said in the topic: a paragraph, nested lines
	whole   []string // all that the entry says
	edits   []text.Edit
}

// cut shortens the entry to a line of at most most characters. It gives false where
// there is nothing to move, or the line cannot be made to fit.
func (d *details) cut(most int) (cut, bool) {
	head := d.head()
	room := most - utf8.RuneCountInString(head) - utf8.RuneCountInString(d.closes)
	keep := d.keep
	if d.marked > keep && utf8.RuneCountInString(d.words[:d.marked]) <= room {
		keep = d.marked
	}
	short, rest := cutSummary(d.words, room, keep)
	if len(short) < d.keep || short == "" && d.words != "" && utf8.RuneCountInString(strings.TrimRight(d.bare(), " \t")) > most {
		return cut{}, false
	}
	c := cut{summary: short}
	if d.words != "" {
		c.whole = append(c.whole, paragraph(d.words))
	}
	if rest != "" {
		c.rest = append(c.rest, paragraph(rest))
	}
	if d.nested != "" {
		c.rest, c.whole = append(c.rest, d.nested), append(c.whole, d.nested)
	}
	line := head + short + d.closes
	if short == "" {
		line = d.bare() + d.closes
	}
	t := d.x.Text()
	old := strings.TrimRight(t.Slice(d.line), " \t")
	if own := memfile.OneLine(t.Slice(d.entry.SummarySpan())); own == short+d.closes {
		line = old // white space in it stays as it is
	}
	for _, e := range text.Diff(old, line) {
		c.edits = append(c.edits, text.Edit{Span: text.Span{Start: e.Start + d.line.Start, End: e.End + d.line.Start}, New: e.New})
	}
	if d.below.Len() > 0 {
		c.edits = append(c.edits, text.Edit{Span: d.below})
	}
	return c, len(c.edits) > 0 && (len(c.rest) > 0 || d.below.Len() > 0)
}

// bare gives the line without summary and dash.
func (d *details) bare() string {
	src := d.x.Text().String()
	end := d.entry.SummarySpan().Start
	between := strings.TrimRight(src[d.entry.Link.Span.End:end], " \t")
	for _, dash := range []string{"—", "–", "--", "-"} {
		if b, ok := strings.CutSuffix(between, dash); ok {
			between = b
			break
		}
	}
	return src[d.line.Start:d.entry.Link.Span.End] + strings.TrimRight(between, " \t")
}

// relinked gives a text of the index as it has to be written at the path to.
func relinked(s, to string) string {
	if path.Dir(to) == "." || !strings.Contains(s, "](") {
		return s
	}
	t := text.New(s)
	all := text.Span{End: len(s)}
	out, ok := text.Apply(s, memdir.Relink(t, memfile.Links(t, all, memfile.OutlineOf(t, all)), memfile.IndexName, to))
	if !ok {
		return s
	}
	return out
}

// linkAfter gives the number of the first link at or behind an offset.
func linkAfter(x *memfile.Index, offset int) int {
	return sort.Search(len(x.Links), func(i int) bool { return x.Links[i].Span.Start >= offset })
}
