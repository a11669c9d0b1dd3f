package proposal

import (
	"slices"
	"strconv"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// Split cuts a change into units: one for each topic, with its entries in the index, and
// one for what else changed in the index. Each is a change against the same base, so
// that any of them can be made without the others. Where the edits of the index cannot be
// told apart, they are one unit.
func Split(c change.Change) []Unit {
	var index *change.File
	var topics []change.File
	for i, f := range c.Files {
		if f.Path == memfile.IndexName && f.Kind == change.Edit {
			index = &c.Files[i]
			continue
		}
		topics = append(topics, f)
	}
	var units []Unit
	for _, f := range topics {
		units = append(units, unitOf(f))
	}
	if index != nil {
		units = splitIndex(*index, topics, units)
	}
	for i := range units {
		u := &units[i]
		u.ID, u.State, u.Change.Op = strconv.Itoa(i+1), Open, c.Op
		u.Deletes = Deletes(u.Change)
	}
	return units
}

func unitOf(f change.File) Unit {
	verb := map[change.Kind]string{change.Create: "new", change.Edit: "edit", change.Delete: "delete", change.Rename: "move", change.Append: "add to"}[f.Kind]
	title := verb + " " + memdir.ShownName(f.Path)
	if f.Kind == change.Rename {
		title += " to " + memdir.ShownName(f.To)
	}
	return Unit{Title: title, Change: change.Change{Title: title, Files: []change.File{f}}}
}

// splitIndex gives each unit the edits of its topic's entries, and what remains a unit
// of its own.
func splitIndex(index change.File, topics []change.File, units []Unit) []Unit {
	after, _, err := index.After()
	if err != nil {
		return append(units, unitOf(index)) // applying it says why
	}
	base, want := memfile.ParseIndex(index.Base), memfile.ParseIndex(after)
	var all []text.Edit
	for i, f := range topics {
		edits := entryEdits(base, want, f.Path, f.Target())
		if _, ok := text.Apply(index.Base, append(append([]text.Edit{}, all...), edits...)); !ok {
			continue // it is part of what remains
		}
		if e, ok := change.EditFile(memfile.IndexName, index.Base, edits); ok {
			units[i].Change.Files = append(units[i].Change.Files, e)
			all = append(all, edits...)
		}
	}
	mine, ok := text.Apply(index.Base, all)
	if !ok || mine == after || onlyNewOrder(index.Base, mine, after) {
		return units
	}
	// What remains, as a change of the same base.
	if rest, ok := remaining(index.Base, mine, after, all); ok {
		if e, ok := change.EditFile(memfile.IndexName, index.Base, rest); ok {
			units = append(units, indexUnit(e))
		}
		return units
	}
	// The parts hang together, so they stay together: the entries with the rest.
	for i := range units {
		units[i].Change.Files = units[i].Change.Files[:1:1]
	}
	return append(units, indexUnit(index))
}

// onlyNewOrder reports whether two indexes made of one base differ by nothing but the
// order in which new lines stand.
func onlyNewOrder(base, a, b string) bool {
	old := linesOf(base)
	known := func(s string) (all, kept []string) {
		for l := range strings.Lines(s) {
			l = strings.TrimSpace(l)
			all = append(all, l)
			if old[l] > 0 {
				kept = append(kept, l)
			}
		}
		slices.Sort(all)
		return all, kept
	}
	allA, keptA := known(a)
	allB, keptB := known(b)
	return slices.Equal(allA, allB) && slices.Equal(keptA, keptB)
}

// remaining gives the edits of the base that, made beside others that turn it into mine,
// turn it into after; ok is false where they touch what those made.
func remaining(base, mine, after string, others []text.Edit) (edits []text.Edit, ok bool) {
	others = slices.Clone(others)
	slices.SortStableFunc(others, func(a, b text.Edit) int { return a.Start - b.Start })
	for _, e := range change.Lines(mine, after) {
		shift := 0 // from base to mine, before e
		for _, o := range others {
			start := o.Start + shift
			end := start + len(o.New)
			if e.Start < end && e.End > start || e.Start == e.End && e.Start > start && e.Start < end {
				return nil, false
			}
			if end <= e.Start && (end < e.Start || e.Start == e.End || len(o.New) > 0) {
				shift += len(o.New) - o.Len()
				continue
			}
			break
		}
		edits = append(edits, text.Edit{Span: text.Span{Start: e.Start - shift, End: e.End - shift}, New: e.New})
	}
	got, fits := text.Apply(base, append(slices.Clone(edits), others...))
	if fits && got == after {
		return edits, true
	}
	rest, fits := text.Apply(base, edits)
	if !fits {
		return nil, false
	}
	got, conflicts := change.Merge(memfile.IndexName, base, rest, mine)
	return edits, len(conflicts) == 0 && (got == after || onlyNewOrder(base, got, after))
}

func indexUnit(f change.File) Unit {
	const title = "edit MEMORY.md"
	return Unit{Title: title, Change: change.Change{Title: title, Files: []change.File{f}}}
}

// entryEdits gives the edits of the base that give the topic at from the entries that it
// has in the wanted index at to: replaced one by one, the others removed or put where
// they stand there.
func entryEdits(base, want *memfile.Index, from, to string) []text.Edit {
	old, new := entriesOf(base, from), entriesOf(want, to)
	var edits []text.Edit
	for i, e := range old {
		var now string
		if i < len(new) {
			now = want.Text().Slice(new[i].Span)
		}
		if base.Text().Slice(e.Span) != now {
			edits = append(edits, text.Edit{Span: e.Span, New: now})
		}
	}
	for i := len(old); i < len(new); i++ {
		at, lead := placeOf(base, want, new[i])
		edits = append(edits, text.Edit{Span: text.Span{Start: at, End: at}, New: lead + withNewline(want.Text().Slice(new[i].Span))})
	}
	return edits
}

func entriesOf(x *memfile.Index, p string) []memfile.Entry {
	var out []memfile.Entry
	for _, e := range x.Entries {
		if e.Target == p && e.List {
			out = append(out, e)
		}
	}
	return out
}

func withNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// placeOf gives where in the base a new entry goes: beside the line that stands before or
// after it in the wanted index; the end where the base has neither.
// lead is what has to stand before it.
func placeOf(base, want *memfile.Index, e memfile.Entry) (at int, lead string) {
	lines := map[string]int{}
	t := base.Text()
	for i := t.Lines() - 1; i >= 0; i-- {
		if l := t.Slice(t.Line(i)); strings.TrimSpace(l) != "" {
			lines[l] = i
		}
	}
	w := want.Text()
	if i := w.LineAt(e.Span.Start); i+1 < w.Lines() && (i == 0 || lines[w.Slice(w.Line(i-1))] == 0) {
		// The first of a list, or behind another new entry.
		if j, ok := lines[w.Slice(w.Line(i+1))]; ok {
			return t.FullLine(j).Start, ""
		}
	}
	for i := w.LineAt(e.Span.Start) - 1; i >= 0; i-- {
		if j, ok := lines[w.Slice(w.Line(i))]; ok {
			full := t.FullLine(j)
			if full.End == t.Len() && !strings.HasSuffix(t.Slice(full), "\n") {
				return full.End, "\n"
			}
			return full.End, ""
		}
	}
	for i := w.LineAt(e.Span.Start) + 1; i < w.Lines(); i++ {
		if j, ok := lines[w.Slice(w.Line(i))]; ok {
			return t.FullLine(j).Start, ""
		}
	}
	if n := t.Len(); n > 0 && !strings.HasSuffix(t.String(), "\n") {
		return n, "\n"
	}
	return t.Len(), ""
}

// Deletes reports whether a change removes a topic, an entry, or more than half of a
// body: counted by the bytes of its words that are gone from lines that did not stay. A
// line in which a number was corrected is not gone.
func Deletes(c change.Change) bool {
	moved := map[string]string{}
	for _, f := range c.Files {
		if f.Kind == change.Rename {
			moved[f.Path] = f.To
		}
	}
	for _, f := range c.Files {
		after, stays, err := f.After()
		switch {
		case err != nil:
			continue // nothing is made of it
		case f.Kind == change.Create || f.Kind == change.Append:
			continue
		case !stays:
			return true
		case f.Path == memfile.IndexName:
			if len(lostEntries(f.Base, after, moved)) > 0 {
				return true
			}
		default:
			if total, lost := lostWords(memfile.Parse(f.Base).BodyText(), memfile.Parse(after).BodyText()); 2*lost > total {
				return true
			}
		}
	}
	return false
}

// lostEntries gives the topics that an index lists and another one does not any more.
func lostEntries(base, after string, moved map[string]string) []string {
	want := memfile.ParseIndex(after)
	var out []string
	for _, e := range memfile.ParseIndex(base).Entries {
		if want.Entry(e.Target) != nil || moved[e.Target] != "" && want.Entry(moved[e.Target]) != nil {
			continue
		}
		out = append(out, e.Target)
	}
	return out
}

// linesOf counts the lines of texts.
func linesOf(texts ...string) map[string]int {
	n := map[string]int{}
	for _, s := range texts {
		for l := range strings.Lines(s) {
			n[strings.TrimSpace(l)]++
		}
	}
	return n
}

// lostLines gives the bytes of the lines of a text, and of those that are not among
// others, which it uses up.
func lostLines(s string, among map[string]int) (total, lost int) {
	for l := range strings.Lines(s) {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		total += len(l)
		if among[l] > 0 {
			among[l]--
		} else {
			lost += len(l)
		}
	}
	return total, lost
}

// lostWords gives the bytes of the words of a text, and of those that another one does not
// have: whole lines are compared first, then the words of the lines that are left.
func lostWords(s, after string) (total, lost int) {
	stay := linesOf(after)
	var gone []string
	for l := range strings.Lines(s) {
		l = strings.TrimSpace(l)
		for _, w := range strings.Fields(l) {
			total += len(w)
		}
		if stay[l] > 0 {
			stay[l]--
		} else {
			gone = append(gone, l)
		}
	}
	words := map[string]int{}
	for l, n := range stay {
		for _, w := range strings.Fields(l) {
			words[w] += n
		}
	}
	for _, l := range gone {
		for _, w := range strings.Fields(l) {
			if words[w] > 0 {
				words[w]--
			} else {
				lost += len(w)
			}
		}
	}
	return total, lost
}
