package fixes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

func (sec section) offer() diagnostics.Offer {
	title := fmt.Sprintf("Move the section %s into a topic", memdir.ShownName(sec.arg))
	if sec.arg == "" {
		title = fmt.Sprintf("Move the last %d lines into a topic", sec.moved.lines)
	}
	return diagnostics.Offer{Fix: MoveSection, Title: title, Arg: sec.arg}
}

func sectionMoved(s *diagnostics.Snapshot, arg string) (change.Change, error) {
	x := s.View.Index
	b := budgetOf(x, s.Config)
	cand := append(sectionsToMove(x, b), sections(x, b)...) // also one that does not suffice, where it is asked for
	i := slices.IndexFunc(cand, func(sec section) bool { return sec.arg == arg })
	if i < 0 {
		return change.Change{}, errors.New("the index has no such section any more, or nothing of it is to be moved")
	}
	sec := cand[i]
	if sec.title = plainText(sec.title); sec.title == "" {
		sec.title = "Section"
	}
	t := x.Text()
	p, name := freePath(s, sec.title)
	entries := entriesIn(x, sec.region)
	body := text.WithEOL(t.Slice(sec.region), "\n")
	if sec.under != "" {
		body = "## " + sec.under + "\n\n" + body
	}
	summary := sectionSummary(t, sec, entries, s.Config.Limits.EntryLength-utf8.RuneCountInString(memfile.EntryLine(sec.title, p, "x"))+1)
	topic, err := newTopic(s, p, memdir.Memory{Name: name, Description: sectionDescription(sec, summary), Type: sectionType(s, entries), Body: body})
	if err != nil {
		return change.Change{}, err
	}
	line := sec.mark + strings.TrimPrefix(memfile.EntryLine(sec.title, p, summary), "-")
	index, err := edit(memfile.IndexName, t, text.Edit{Span: sec.region, New: line})
	if err != nil {
		return change.Change{}, err
	}
	return change.Change{Files: append([]change.File{{Path: p, Kind: change.Create, New: topic}}, index.Files...)}, nil
}

// freePath gives a path at the top of the directory, and a name, that no topic has
// and no link waits for.
func freePath(s *diagnostics.Snapshot, title string) (p, name string) {
	stem := memdir.Slug(plainText(title))
	if stem == "" {
		stem = "section"
	}
	taken := map[string]bool{}
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

// sectionSummary tells in at most room characters what a section holds: how many
// memories and their titles, or how its text begins.
func sectionSummary(t *text.Text, sec section, entries []memfile.Entry, room int) string {
	room = max(room, 20)
	if len(entries) == 0 {
		return firstWords(t.Slice(sec.region), room)
	}
	out := fmt.Sprintf("%d memories", len(entries))
	if len(entries) == 1 {
		out = "1 memory"
	}
	for i, e := range entries {
		sep, more := ", ", ", …"
		if i == 0 {
			sep = ": "
		}
		if i == len(entries)-1 {
			more = ""
		}
		title := plainText(e.Title)
		if title == "" {
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

// sectionType gives the type that most of the topics have which a section leads
// to, of those that a list of topics may have.
func sectionType(s *diagnostics.Snapshot, entries []memfile.Entry) string {
	n := 0
	for _, e := range entries {
		if t := s.View.Topic(e.Target); t != nil && t.Meta.Type == "project" {
			n++
		}
	}
	if 2*n > len(entries) {
		return "project"
	}
	return "reference"
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

// sectionsToMove gives the sections whose moving suffices, best first: those that
// are not loaded, then the smaller; the last lines come before a section that is
// twice as long.
func sectionsToMove(x *memfile.Index, b budget) []section {
	all := slices.DeleteFunc(sections(x, b), func(sec section) bool {
		return !b.fits(b.total.minus(sec.moved).plus(b.entry(sec.title)), 100)
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
	at := slices.IndexFunc(all, func(sec section) bool { return !sec.late || sec.moved.size > 2*rest.moved.size })
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
