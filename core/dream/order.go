package dream

import (
	"sort"
	"strings"
	"time"

	"mem/core/memfile"
	"mem/core/text"
)

// orderPercent is how much of what readers load an index must take before its entries
// are put in order: while all of it is read, the order in which somebody put them is
// worth more, and an index that changes every night is hard to review.
const orderPercent = 50

// Weights of an entry's topic. What holds for every task comes before what holds for one;
// what is fresh, or leaned on by other topics, before what is not. Ties keep their order,
// so that an index that is in order stays as it is.
const (
	weightPinned   = 1000
	weightAlways   = 30 // feedback, user
	weightProject  = 20
	weightOther    = 10
	weightWeek     = 30 // touched within it
	weightMonth    = 20
	weightQuarter  = 10
	weightLink     = 5 // for each topic that links it, three at most
	weightDeadLink = -1000
)

// usefulness ranks a topic for the index.
func usefulness(t *topic, now time.Time) int {
	if t == nil {
		return weightDeadLink
	}
	w := weightOther
	switch t.file.Meta().Type {
	case "feedback", "user":
		w = weightAlways
	case "project":
		w = weightProject
	}
	const day = 24 * time.Hour
	switch age := now.Sub(t.touched()); {
	case age <= 7*day:
		w += weightWeek
	case age <= 30*day:
		w += weightMonth
	case age <= 91*day:
		w += weightQuarter
	}
	w += weightLink * min(len(t.linkedBy), 3)
	if t.pinned {
		w += weightPinned
	}
	return w
}

// run is a part of the index that is put in order: entries of one list, one below the
// other, each with what is indented below it.
type run struct {
	span  text.Span
	parts []string
	ranks []int
}

// ordered gives an index with the most useful entries of each list first. Headings and
// words between entries stay where they are and part lists; numbered lists have an order
// of their own.
func ordered(src string, rank func(target string) int) string {
	x := memfile.ParseIndex(src)
	t := x.Text()
	at := map[int]*memfile.Entry{}
	for i := range x.Entries {
		if e := &x.Entries[i]; e.List && bullet(t, e) {
			at[e.Line] = e
		}
	}
	var runs []run
	for i := 0; i < t.Lines(); {
		e := at[i]
		if e == nil {
			i++
			continue
		}
		r := run{span: text.Span{Start: t.FullLine(i).Start}}
		for {
			end := i + 1
			for end < t.Lines() && deeper(t.Slice(t.Line(end)), e.Indent) {
				end++
			}
			r.span.End = t.FullLine(end - 1).End
			r.parts = append(r.parts, t.Slice(text.Span{Start: t.FullLine(i).Start, End: r.span.End}))
			r.ranks = append(r.ranks, rank(at[i].Target))
			i = end
			next := at[i]
			if next == nil || next.Indent != e.Indent {
				break
			}
		}
		runs = append(runs, r)
	}
	var b strings.Builder
	last := 0
	for _, r := range runs {
		b.WriteString(src[last:r.span.Start])
		b.WriteString(r.sorted(t.EOL()))
		last = r.span.End
	}
	b.WriteString(src[last:])
	return b.String()
}

func (r run) sorted(eol string) string {
	if sort.SliceIsSorted(r.ranks, func(i, j int) bool { return r.ranks[i] > r.ranks[j] }) {
		return strings.Join(r.parts, "")
	}
	order := make([]int, len(r.parts))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return r.ranks[order[i]] > r.ranks[order[j]] })
	whole := strings.HasSuffix(r.parts[len(r.parts)-1], "\n")
	var b strings.Builder
	bom := strings.HasPrefix(r.parts[0], text.BOM)
	if bom {
		b.WriteString(text.BOM)
	}
	for _, i := range order {
		p := strings.TrimPrefix(r.parts[i], text.BOM)
		b.WriteString(p)
		if !strings.HasSuffix(p, "\n") {
			b.WriteString(eol)
		}
	}
	if !whole {
		return strings.TrimSuffix(b.String(), eol)
	}
	return b.String()
}

// bullet reports whether an entry's list has marks, not numbers.
func bullet(t *text.Text, e *memfile.Entry) bool {
	line := strings.TrimPrefix(t.Slice(t.Line(e.Line)), text.BOM)
	line = strings.TrimLeft(line, " \t")
	return line != "" && strings.IndexByte("-*+", line[0]) >= 0
}

// deeper reports whether a line belongs to an entry that is indented by so many bytes.
func deeper(line string, indent int) bool {
	rest := strings.TrimLeft(line, " \t")
	return strings.TrimSpace(rest) != "" && len(line)-len(rest) > indent
}
