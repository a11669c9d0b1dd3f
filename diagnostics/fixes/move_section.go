package fixes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// MoveSection is the ID of the fix.
const MoveSection = "move-section"

func moveSection() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      MoveSection,
		Summary: "Moves a section of the index into a topic and links it.",
		Kind:    diagnostics.Extract,
		Make: func(_ context.Context, s *diagnostics.Snapshot, _ diagnostics.Finding, arg string) (change.Change, error) {
			return sectionMoved(s, arg)
		},
	}
}

// maxSections is how many sections are offered.
const maxSections = 3

// argSeparator stands between the sections that one offer names; no heading holds it.
const argSeparator = "\t"

func (sec section) offer() diagnostics.Offer {
	title := fmt.Sprintf("Move the section %s into a topic", memdir.ShownName(sec.arg))
	if sec.arg == "" {
		title = fmt.Sprintf("Move the last %d lines into a topic", sec.moved.lines)
	}
	return diagnostics.Offer{Fix: MoveSection, Title: title, Arg: sec.arg}
}

// namedSections is how many sections the title of an offer names.
const namedSections = 3

func offerTogether(all []section) diagnostics.Offer {
	var args, names []string
	for _, sec := range all {
		args = append(args, sec.arg)
		if len(names) < namedSections {
			names = append(names, memdir.ShownName(sec.arg))
		}
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	title := fmt.Sprintf("Move the sections %s and %s into topics", strings.Join(names[:last], ", "), names[last])
	return diagnostics.Offer{Fix: MoveSection, Title: title, Arg: strings.Join(args, argSeparator)}
}

// sectionsTogether gives sections, in the order of the index, whose moving suffices
// where none that is not much larger does alone: the largest of those that are not
// loaded, then those before them, and no more than needed.
func sectionsTogether(x *memfile.Index, b budget) []section {
	all := sections(x, b)
	rest, ok := lastLines(x, b)
	if slices.ContainsFunc(all, func(sec section) bool {
		return b.fits(b.without(sec), 100) && !(ok && sec.muchLonger(rest))
	}) {
		return nil
	}
	slices.SortStableFunc(all, func(a, b section) int {
		switch {
		case a.late != b.late && a.late:
			return -1
		case a.late != b.late:
			return 1
		case a.late:
			return cmp.Or(cmp.Compare(b.moved.lines, a.moved.lines), cmp.Compare(b.moved.size, a.moved.size))
		}
		return cmp.Compare(b.region.Start, a.region.Start)
	})
	var chosen []section
	left := b.total
	for _, sec := range all {
		if b.fits(left, keptPercent) {
			break
		}
		if ok && sec.muchLonger(rest) || slices.ContainsFunc(chosen, func(c section) bool { return c.region.Start < sec.region.End && sec.region.Start < c.region.End }) {
			continue
		}
		chosen, left = append(chosen, sec), left.minus(sec.moved).plus(b.entry(sec.title))
	}
	if !b.fits(left, 100) {
		return nil
	}
	for i := len(chosen) - 1; i >= 0; i-- { // what a larger one behind it made superfluous
		if more := left.plus(chosen[i].moved).minus(b.entry(chosen[i].title)); b.fits(more, keptPercent) {
			chosen, left = slices.Delete(chosen, i, i+1), more
		}
	}
	slices.SortFunc(chosen, func(a, b section) int { return cmp.Compare(a.region.Start, b.region.Start) })
	return chosen
}

func sectionMoved(s *diagnostics.Snapshot, arg string) (change.Change, error) {
	x := s.View.Index
	b := budgetOf(x, s.Config)
	cand := append(sectionsToMove(x, b), sections(x, b)...) // also one that does not suffice, where it is asked for
	made := map[string]bool{}
	var files []change.File
	var edits []text.Edit
	for _, one := range strings.Split(arg, argSeparator) {
		i := slices.IndexFunc(cand, func(sec section) bool { return sec.arg == one })
		if i < 0 {
			return change.Change{}, errors.New("the index has no such section any more, or nothing of it is to be moved")
		}
		sec := cand[i]
		if slices.ContainsFunc(edits, func(e text.Edit) bool { return e.Start < sec.region.End && sec.region.Start < e.End }) {
			return change.Change{}, errors.New("one of the sections lies in another one")
		}
		f, e, err := oneMoved(s, sec, made)
		if err != nil {
			return change.Change{}, err
		}
		files, edits = append(files, f), append(edits, e)
	}
	index, err := edit(memfile.IndexName, x.Text(), edits...)
	if err != nil {
		return change.Change{}, err
	}
	return change.Change{Files: append(files, index.Files...)}, nil
}

// oneMoved gives the topic that a section becomes, and the edit that puts its entry
// there. made are the paths of those that this change has made.
func oneMoved(s *diagnostics.Snapshot, sec section, made map[string]bool) (change.File, text.Edit, error) {
	x := s.View.Index
	if sec.title = plainText(sec.title); sec.title == "" {
		sec.title = "Section"
	}
	t := x.Text()
	p, name := freePath(s, sec.title, made)
	made[strings.ToLower(p)] = true
	entries := entriesIn(x, sec.region)
	body := text.WithEOL(t.Slice(sec.region), "\n")
	if sec.under != "" {
		body = "## " + sec.under + "\n\n" + body
	}
	summary := sectionSummary(x, sec, entries, s.Config.Limits.EntryLength-utf8.RuneCountInString(memfile.EntryLine(sec.title, p, "x"))+1)
	topic, err := newTopic(s, p, memdir.Memory{Name: name, Description: sectionDescription(sec, summary), Type: "reference", Body: body + movedNote(s)})
	if err != nil {
		return change.File{}, text.Edit{}, err
	}
	line := sec.mark + strings.TrimPrefix(memfile.EntryLine(sec.title, p, summary), "-")
	return change.File{Path: p, Kind: change.Create, New: topic}, text.Edit{Span: sec.region, New: line}, nil
}

// freePath gives a path at the top of the directory, and a name, that no topic has
// and no link waits for.
func freePath(s *diagnostics.Snapshot, title string, made map[string]bool) (p, name string) {
	stem := memdir.Slug(plainText(title))
	if stem == "" {
		stem = "section"
	}
	taken := maps.Clone(made)
	for _, t := range s.View.Topics {
		taken[strings.ToLower(t.Path)] = true
		taken[memdir.Fold(t.Name())+".md"] = true
	}
	for _, l := range s.View.Index.Links {
		taken[strings.ToLower(path.Clean(l.Path()))] = true
	}
	for n := 1; ; n++ {
		if name = stem; n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		p = name + ".md"
		if taken[strings.ToLower(p)] || taken[memdir.Fold(name)+".md"] {
			continue
		}
		if _, err := s.View.LoadPath(p); err != nil && s.View.CheckPlace(p) == nil || n > 1000 {
			return p, name
		}
	}
}

func entriesIn(x *memfile.Index, region text.Span) []memfile.Entry {
	var out []memfile.Entry
	for _, e := range x.Entries {
		if region.Contains(e.Span.Start) {
			out = append(out, e)
		}
	}
	return out
}

// sectionSummary tells in at most room characters what a section holds: its headings,
// where it has several, else how many memories and their titles, or how its text
// begins.
func sectionSummary(x *memfile.Index, sec section, entries []memfile.Entry, room int) string {
	t := x.Text()
	room = max(room, 20)
	heads := headingsIn(x, sec)
	if len(entries) == 0 && len(heads) < 2 {
		return firstWords(t.Slice(sec.region), room)
	}
	out, before := fmt.Sprintf("%d memories", len(entries)), " on "
	switch {
	case len(entries) == 0:
		out, before = fmt.Sprintf("%d sections", len(heads)), ": "
	case len(entries) == 1:
		out = "1 memory"
	}
	titles := heads
	if len(heads) < 2 {
		titles, before = nil, ": "
		for _, e := range entries {
			titles = append(titles, e.Title)
		}
	}
	for i, title := range titles {
		sep, more := ", ", ", …"
		if i == 0 {
			sep = before
		}
		if i == len(titles)-1 {
			more = ""
		}
		if title = plainText(title); title == "" {
			continue
		}
		if utf8.RuneCountInString(out+sep+title+more) > room {
			if i > 0 {
				out += ", …"
			}
			return out
		}
		out += sep + title
	}
	return out
}

// headingsIn gives the headings in a section, and the one that its start stands below
// where that stays in the index.
func headingsIn(x *memfile.Index, sec section) []string {
	var out []string
	if sec.under != "" {
		out = append(out, sec.under)
	}
	for _, h := range x.Outline().Headings {
		if sec.region.Contains(h.Line.Start) && h.Text != "" {
			out = append(out, h.Text)
		}
	}
	return out
}

// sectionDescription gives the description of the topic that a section becomes.
func sectionDescription(sec section, summary string) string {
	switch {
	case summary == "":
		return sec.title
	case sec.arg == "":
		return summary
	}
	return sec.title + ", " + summary
}

// firstWords gives how a text begins: its first paragraph, in at most room
// characters.
func firstWords(s string, room int) string {
	s = text.WithEOL(firstRunes(s, 8*room), "\n")
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n\n")
	words := strings.TrimRight(strings.TrimLeft(plainText(memfile.OneLine(s)), "#>-*+| "), ":： ")
	if short, _ := cutSummary(words, room, 0); short != "" || words == "" {
		return short
	}
	return firstRunes(words, room-1) + "…"
}

// section is a part of the index that can be moved.
type section struct {
	arg    string    // names it among the others; "" for the last lines, whatever they are
	title  string    // of the entry that takes its place
	region text.Span // what is moved, without blank lines around it
	under  string    // the heading that the region's start stands below, where it stays in the index
	mark   string    // of the list item that takes its place
	moved  amount
	late   bool // it reaches into what is not loaded
}

// muchLonger reports whether moving the last lines is better than moving a section,
// since it takes so much less.
func (sec section) muchLonger(rest section) bool { return sec.moved.size > 2*rest.moved.size }

// sectionsToMove gives the sections whose moving suffices, best first: those that
// are not loaded, then the smaller; the last lines come before a section that is
// much longer.
func sectionsToMove(x *memfile.Index, b budget) []section {
	all := slices.DeleteFunc(sections(x, b), func(sec section) bool {
		return !b.fits(b.without(sec), 100)
	})
	slices.SortStableFunc(all, func(a, b section) int {
		if a.late != b.late {
			if a.late {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.moved.size, b.moved.size)
	})
	rest, ok := lastLines(x, b)
	if !ok {
		return all[:min(len(all), maxSections)]
	}
	all = all[:min(len(all), maxSections-1)]
	at := slices.IndexFunc(all, func(sec section) bool { return sec.muchLonger(rest) })
	if at < 0 {
		at = len(all)
	}
	return slices.Insert(all, at, rest)
}

// sections gives the sections under headings, with their subsections; not one that
// holds most of the index.
func sections(x *memfile.Index, b budget) []section {
	t, heads := x.Text(), x.Outline().Headings
	seen := map[string]int{}
	ends := sectionEnds(heads, x.File.Body.End)
	var out []section
	for i, h := range heads {
		arg := h.Text
		if seen[arg]++; seen[arg] > 1 {
			arg = fmt.Sprintf("%s (%d)", arg, seen[arg])
		}
		region := trimmedLines(t, text.Span{Start: h.Line.End, End: ends[i]})
		if region.Len() == 0 || h.Text == "" {
			continue
		}
		first, end := t.LineAt(region.Start), t.LineAt(region.End-1)+1
		sec := section{arg: arg, title: h.Text, region: region, mark: "-", moved: b.before[end].minus(b.before[first])}
		sec.late = b.dropped >= 0 && end > b.dropped
		if sec.moved.lines < 2 || 4*sec.moved.size > 3*b.total.size {
			continue
		}
		out = append(out, sec)
	}
	return out
}

// sectionEnds gives where each heading's section ends, subsections included.
func sectionEnds(heads []memfile.Heading, end int) []int {
	ends := make([]int, len(heads))
	var open []int
	for i, h := range heads {
		for len(open) > 0 && heads[open[len(open)-1]].Level >= h.Level {
			ends[open[len(open)-1]] = h.Line.Start
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		ends[i] = end
	}
	return ends
}

// trimmedLines takes blank lines off both ends of a span of whole lines, and the
// line ending of its last one.
func trimmedLines(t *text.Text, s text.Span) text.Span {
	src := t.String()
	s.End = s.Start + len(strings.TrimRight(src[s.Start:s.End], " \t\r\n"))
	for s.Start < s.End {
		i := strings.IndexByte(src[s.Start:s.End], '\n')
		if i < 0 || strings.TrimSpace(src[s.Start:s.Start+i]) != "" {
			break
		}
		s.Start += i + 1
	}
	if s.Len() > 0 {
		s.End = t.Line(t.LineAt(s.End - 1)).End
	}
	return s
}
