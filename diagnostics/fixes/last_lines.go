package fixes

import (
	"sort"
	"strings"

	"mem/core/memfile"
	"mem/core/text"
)

// keptPercent is how much of a limit the index takes at most when its last lines
// have been moved.
const keptPercent = 80

// lastTitle is the title of the topic that the last lines become.
const lastTitle = "More memories"

// lastLines gives the end of the index that has to be moved to bring it to
// keptPercent of its limits, or within them where that is all that can be reached.
func lastLines(x *memfile.Index, b budget) (section, bool) {
	t := x.Text()
	starts := blockStarts(x)
	best := -1
	for _, percent := range []int{keptPercent, 100} {
		// What stays grows with the line: the last one that fits moves the least.
		n := sort.Search(len(starts), func(i int) bool {
			return !b.fits(b.before[starts[i]].plus(b.entry(lastTitle)), percent)
		})
		if n > 0 {
			best = starts[n-1]
			break
		}
	}
	if best < 0 {
		return section{}, false
	}
	region := trimmedLines(t, text.Span{Start: t.FullLine(best).Start, End: t.Len()})
	if region.Len() == 0 {
		return section{}, false
	}
	end := t.LineAt(region.End-1) + 1
	sec := section{title: lastTitle, region: region, mark: "-", moved: b.before[end].minus(b.before[best]), late: true}
	if l := t.Slice(t.Line(best)); strings.HasPrefix(l, "* ") || strings.HasPrefix(l, "+ ") {
		sec.mark = l[:1]
	}
	heads := x.Outline().Headings
	if h := sort.Search(len(heads), func(i int) bool { return heads[i].Line.Start >= region.Start }) - 1; h >= 0 && heads[h].Level > 1 {
		sec.under = heads[h].Text
	}
	if sec.under != "" && len(heads) > 0 && memfile.In(headingLines(heads), region.Start) {
		sec.under = ""
	}
	return sec, sec.moved.lines > 1
}

func headingLines(heads []memfile.Heading) []text.Span {
	out := make([]text.Span, len(heads))
	for i, h := range heads {
		out[i] = h.Line
	}
	return out
}

// blockStarts gives the lines, in order, before which the index can be divided: at
// headings, at list items and paragraphs of the top level, never in code, a table
// or a comment, and never before all text.
func blockStarts(x *memfile.Index) []int {
	t, o := x.Text(), x.Outline()
	first := true
	blank, previous := true, ""
	var out []int
	for i := t.LineAt(x.File.Body.Start); i < t.Lines(); i++ {
		line := t.Line(i)
		l := strings.TrimRight(t.Slice(line), " \t")
		if l == "" {
			blank = true
			continue
		}
		if !first && l[0] != ' ' && l[0] != '\t' && !strings.HasPrefix(l, "```") && !strings.HasPrefix(l, "~~~") &&
			!memfile.In(o.Code, line.Start) && !inside1(o.Comments, line.Start) &&
			!(strings.HasPrefix(l, "|") && strings.HasPrefix(previous, "|")) && (blank || item(l) || l[0] == '#') {
			out = append(out, i)
		}
		first, blank, previous = false, false, l
	}
	return out
}

// inside1 reports whether an offset lies in a span, but not at its start.
func inside1(spans []text.Span, offset int) bool {
	return offset > 0 && memfile.In(spans, offset-1) && memfile.In(spans, offset)
}

// item reports whether a line without indent is a list item.
func item(l string) bool {
	if len(l) > 2 && strings.IndexByte("-*+", l[0]) >= 0 && l[1] == ' ' {
		return true
	}
	digits := len(l) - len(strings.TrimLeft(l, "0123456789"))
	return digits > 0 && digits < 10 && len(l) > digits+1 && (l[digits] == '.' || l[digits] == ')') && l[digits+1] == ' '
}
