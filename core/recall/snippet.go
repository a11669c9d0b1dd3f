package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Snippet is a piece of the field that matches best, around the place where
// most of the query's words stand together.
type Snippet struct {
	Field   Field
	Text    string // as in the source, cut on rune boundaries
	Start   int    // byte offset of Text in the field
	More    bool   // the field goes on behind Text
	Matches []Span // in Text, in order, without overlap
}

// Span is a piece of text from byte Start up to byte End.
type Span struct{ Start, End int }

// sought is a stem that the document contains, with its weight in the query.
type sought struct {
	stem   uint32
	weight float64
}

// occurrence is one place where a sought stem stands.
type occurrence struct {
	Span
	sought int // index
}

func (x *Index) snippet(d *document, f Field, found []sought, width int) Snippet {
	text := d.text[f]
	var places []occurrence
	for _, r := range regions(d, f, found, width) {
		places = x.occurrences(places, text, r, found)
	}
	s := cutAround(text, densest(places, found, width), places, width, f)
	s.More = s.More || d.cut[f]
	return s
}

// cutAround cuts text around core and marks the places that lie in the cut.
func cutAround(text string, core Span, places []occurrence, width int, f Field) Snippet {
	s := Snippet{Field: f}
	cut := widen(text, core, width)
	s.Text, s.Start = text[cut.Start:cut.End], cut.Start
	s.More = cut.End < len(text)
	for _, p := range places {
		if p.Start < cut.Start || p.End > cut.End {
			continue
		}
		m := Span{p.Start - cut.Start, p.End - cut.Start}
		if n := len(s.Matches); n > 0 && m.Start < s.Matches[n-1].End {
			s.Matches[n-1].End = max(m.End, s.Matches[n-1].End)
			continue
		}
		s.Matches = append(s.Matches, m)
	}
	return s
}

// regions returns where in the field to look: from the first occurrence on, or
// in a long text around the first occurrence of each stem, so that the time
// does not grow with the text.
func regions(d *document, f Field, found []sought, width int) []Span {
	text := d.text[f]
	if f != Body {
		return []Span{{0, len(text)}}
	}
	var out []Span
	for _, s := range found {
		at, ok := d.first(s.stem)
		if !ok {
			continue
		}
		start := wordStart(text, max(0, at-max(width, maxWholeBytes)), at)
		out = append(out, Span{start, runeBoundary(text, at+width+maxWholeBytes)})
	}
	if len(out) == 0 {
		return nil
	}
	slices.SortFunc(out, func(p, q Span) int { return cmp.Compare(p.Start, q.Start) })
	if len(text)-out[0].Start <= scanBytes {
		return []Span{{out[0].Start, len(text)}}
	}
	merged := out[:1]
	for _, r := range out[1:] {
		if last := &merged[len(merged)-1]; r.Start <= last.End {
			last.End = max(last.End, r.End)
		} else {
			merged = append(merged, r)
		}
	}
	return merged
}

// occurrences appends the places of the sought stems in a region of text, in
// order.
func (x *Index) occurrences(places []occurrence, text string, r Span, found []sought) []occurrence {
	var begins [256]bool // first bytes of all forms: spares most words the look-up
	for _, s := range found {
		for _, id := range x.dict.stems[s.stem].forms {
			begins[x.dict.surfaces[id].text[0]] = true
		}
	}
	from := len(places)
	emit := func(word []byte, start, end int, _ Kind) {
		if !begins[word[0]] {
			return
		}
		id, ok := x.dict.surface(word)
		if !ok {
			return
		}
		st := x.dict.surfaces[id].stem
		if i := slices.IndexFunc(found, func(s sought) bool { return s.stem == st }); i >= 0 {
			places = append(places, occurrence{Span{start, end}, i})
		}
	}
	var s scanner
	for i := r.Start; i < r.End && len(places)-from < maxOccurs; {
		i = s.step(text, i, emit)
	}
	slices.SortStableFunc(places[from:], func(p, q occurrence) int { return cmp.Compare(p.Start, q.Start) })
	return places
}

// densest returns the span of at most width bytes whose distinct stems weigh
// most; of equal ones the first.
func densest(places []occurrence, found []sought, width int) Span {
	var (
		best   Span
		most   = math.Inf(-1)
		counts = make([]int, len(found))
		weight float64
		j      int
	)
	for i, p := range places {
		for j < len(places) && (j == i || places[j].End-p.Start <= width) {
			if counts[places[j].sought]++; counts[places[j].sought] == 1 {
				weight += found[places[j].sought].weight
			}
			j++
		}
		if weight > most+1e-9 {
			most = weight
			best = p.Span
			for _, q := range places[i:j] {
				best.End = max(best.End, q.End)
			}
		}
		if counts[p.sought]--; counts[p.sought] == 0 {
			weight -= found[p.sought].weight
		}
	}
	return best
}

// widen grows core to about width bytes of text, on both sides alike where
// there is room, and to whole words where a space is near.
func widen(text string, core Span, width int) Span {
	width = max(width, core.End-core.Start)
	start := core.Start - (width-(core.End-core.Start))/2
	start = max(0, min(start, len(text)-width))
	start = wordStart(text, start, core.Start)
	end := wordEnd(text, core.End, min(len(text), start+width))
	start += len(text[start:end]) - len(strings.TrimLeft(text[start:end], " \t\r\n"))
	end = start + len(strings.TrimRight(text[start:end], " \t\r\n"))
	return Span{start, end}
}

// nearSpace is how far a cut moves to fall between words.
const nearSpace = 24

// wordStart returns the first place in text[i:stop] near i that begins a word,
// else the rune boundary at or before i.
func wordStart(text string, i, stop int) int {
	if i > 0 {
		if at := strings.IndexAny(text[i:min(stop, i+nearSpace)], " \t\n"); at >= 0 {
			return i + at + 1
		}
	}
	return runeBoundary(text, i)
}

// wordEnd returns the last place in text[stop:i] near i that ends a word, else
// the rune boundary at or before i.
func wordEnd(text string, stop, i int) int {
	if i < len(text) {
		from := max(stop, i-nearSpace)
		if at := strings.LastIndexAny(text[from:max(from, i)], " \t\n"); at >= 0 {
			return from + at
		}
	}
	return max(stop, runeBoundary(text, i))
}

// runeBoundary returns i or, where that lies inside a rune of s, the start of it.
func runeBoundary(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for j := i; j >= 0 && j > i-utf8.UTFMax; j-- {
		if !utf8.RuneStart(s[j]) {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[j:]); j+size > i {
			return j
		}
		break
	}
	return i
}
