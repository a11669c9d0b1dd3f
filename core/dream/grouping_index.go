package dream

import (
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// indexWithout gives the index as it is where the groups that wait are not applied: their
// entries are as they were.
func (r *result) indexWithout(waits [][]*touchedFile) string {
	x := r.want
	apply := func(edits []text.Edit) {
		if after, ok := text.Apply(x.Text().String(), edits); ok && len(edits) > 0 {
			x = memfile.ParseIndex(after)
		}
	}
	// Those that go first: their entries may stand among those of another topic by now.
	for _, goes := range []bool{true, false} {
		for _, g := range waits {
			for _, f := range g {
				if f.stays == goes {
					continue
				}
				if f.Kind == change.Create || f.Kind == change.Rename {
					apply(x.Remove(f.Target()))
				}
				apply(r.putBack(x, f.Path))
			}
		}
	}
	return x.Text().String()
}

// putBack gives the edits that let a topic have the entries of the base: in the place of
// those that it has, or behind the entry that stood before.
func (r *result) putBack(x *memfile.Index, path string) (edits []text.Edit) {
	old, now := listed(r.base, path), listed(x, path)
	now = append(now, r.successors(x, path)...)
	for i, e := range old {
		words := r.base.Text().Slice(e.Span)
		if i < len(now) {
			if lost := r.lostDetails(r.base, e); lost != "" {
				words = ended(words, "\n") + lost
			}
			if x.Text().Slice(now[i].Span) != words {
				edits = append(edits, text.Edit{Span: now[i].Span, New: words})
			}
			continue
		}
		at, lead := r.placeFor(x, e)
		if !strings.HasSuffix(words, "\n") {
			words += "\n"
		}
		words += r.lostDetails(r.base, e)
		edits = append(edits, text.Edit{Span: text.Span{Start: at, End: at}, New: lead + words})
	}
	return edits
}

// placeFor gives where an entry of the base goes in another index: behind the next one
// before it that is there, else before the first.
func (r *result) placeFor(x *memfile.Index, e memfile.Entry) (at int, lead string) {
	src := x.Text().String()
	behind := -1
	for _, before := range r.base.Entries {
		if before.Span.Start >= e.Span.Start {
			break
		}
		if l := listed(x, before.Target); before.List && len(l) > 0 {
			behind = below(x, l[len(l)-1])
		}
	}
	if behind < 0 {
		for _, first := range x.Entries {
			if first.List {
				return first.Span.Start, ""
			}
		}
		behind = len(src)
	}
	if behind > 0 && !strings.HasSuffix(src[:behind], "\n") {
		lead = "\n"
	}
	return behind, lead
}

// detailsOf gives the lines that stand below an entry and belong to nobody else: up to the
// next entry, or to what is not indented below it.
func detailsOf(x *memfile.Index, e memfile.Entry) text.Span {
	t := x.Text()
	out := text.Span{Start: e.Span.End, End: below(x, e)}
	for _, other := range x.Entries {
		if start := t.FullLine(other.Line).Start; start >= out.Start && start < out.End {
			out.End = start
		}
	}
	return out
}

// lostDetails gives the lines below an entry of the base, or of what became of it, that the result has nowhere in the
// index: they went with the entry.
func (r *result) lostDetails(x *memfile.Index, e memfile.Entry) string {
	want := map[string]bool{}
	for l := range strings.Lines(r.want.Text().String()) {
		want[strings.TrimSpace(l)] = true
	}
	var b strings.Builder
	for l := range strings.Lines(x.Text().Slice(detailsOf(x, e))) {
		if !want[strings.TrimSpace(l)] {
			b.WriteString(ended(l, "\n"))
		}
	}
	return b.String()
}

// rest gives an entry of what the base became with the details below it, and those of them
// that the result has in the index still.
func (r *result) rest(x *memfile.Index, e memfile.Entry) (span text.Span, kept string) {
	lost := r.lostDetails(x, e)
	if lost == "" {
		return e.Span, ""
	}
	gone := map[string]bool{}
	for l := range strings.Lines(lost) {
		gone[strings.TrimSpace(l)] = true
	}
	below := detailsOf(x, e)
	var b strings.Builder
	for l := range strings.Lines(x.Text().Slice(below)) {
		if !gone[strings.TrimSpace(l)] {
			b.WriteString(l)
		}
	}
	return text.Span{Start: e.Span.Start, End: max(below.End, e.Span.End)}, b.String()
}

// outOf gives the edits that take the entries of a topic out of the base, with what went
// below them.
func (r *result) outOf(x *memfile.Index, path string) []text.Edit {
	for _, e := range listed(x, path) {
		if r.lostDetails(x, e) == "" {
			return x.Remove(path)
		}
	}
	return without(x, path)
}

// below gives where the lines end that are indented below an entry, and so belong to it.
func below(x *memfile.Index, e memfile.Entry) int {
	t := x.Text()
	i := t.LineAt(max(e.Span.End-1, e.Span.Start)) + 1
	for i < t.Lines() && deeper(t.Slice(t.Line(i)), e.Indent) {
		i++
	}
	return max(t.FullLine(i-1).End, e.Span.End)
}

// successors gives the entries that took the place of those of a topic that went: what was
// said of it stands there, and leads to another topic now.
func (r *result) successors(x *memfile.Index, path string) (out []memfile.Entry) {
	if f := r.by[path]; f == nil || f.stays {
		return nil
	}
	for _, old := range listed(r.base, path)[min(len(listed(x, path)), len(listed(r.base, path))):] {
		for _, e := range x.Entries {
			if e.List && e.Target != path && e.Title == old.Title && !slices.ContainsFunc(listed(r.base, e.Target), func(b memfile.Entry) bool { return b.Title == e.Title }) &&
				!slices.ContainsFunc(out, func(o memfile.Entry) bool { return o.Span == e.Span }) {
				out = append(out, e)
				break
			}
		}
	}
	return out
}

// handedOn gives the edits that let the entries of a topic that goes lead to where the
// result has them lead, unless that one has entries of its own: these say enough.
func (r *result) handedOn(x *memfile.Index, path string) (edits []text.Edit) {
	now := listed(x, path)
	for i, e := range r.successors(r.want, path) {
		if i < len(now) && len(listed(x, e.Target)) == 0 {
			edits = append(edits, text.Edit{Span: now[i].Span, New: ended(r.want.Text().Slice(e.Span), x.Text().Slice(now[i].Span))})
		}
	}
	return edits
}

// ended gives words the line ending that others have.
func ended(words, as string) string {
	words = strings.TrimRight(words, "\r\n")
	return words + as[len(strings.TrimRight(as, "\r\n")):]
}

// listed gives the entries of a topic that are lines of a list.
func listed(x *memfile.Index, path string) (out []memfile.Entry) {
	for _, e := range x.Entries {
		if e.Target == path && e.List {
			out = append(out, e)
		}
	}
	return out
}

// follow lets the entries of a file that moved lead to where it is.
func (r *result) follow(x *memfile.Index, f *touchedFile, apply func([]text.Edit)) {
	if f.Kind != change.Rename {
		return
	}
	var edits []text.Edit
	for _, k := range x.Links {
		if targetOf(memfile.IndexName, k) == f.Path {
			edits = append(edits, memdir.Retarget(x.Text(), k, memfile.IndexName, f.To))
		}
	}
	apply(edits)
}

// reworded gives an index in which a topic's entries say what the result has them say.
func (r *result) reworded(x *memfile.Index, f *touchedFile) *memfile.Index {
	old, now := listed(x, f.Target()), listed(r.want, f.Target())
	var edits []text.Edit
	for i, e := range now {
		words := r.want.Text().Slice(e.Span)
		switch {
		case i < len(old):
			span, kept := r.rest(x, old[i])
			if kept != "" {
				words = ended(words, "\n") + kept
			}
			if x.Text().Slice(span) != words {
				edits = append(edits, text.Edit{Span: span, New: words})
			}
		case i == 0:
			edits = append(edits, x.Insert(strings.TrimSpace(r.want.Text().Slice(r.want.Text().Line(e.Line))))...)
		}
	}
	if after, ok := text.Apply(x.Text().String(), edits); ok && len(edits) > 0 {
		return memfile.ParseIndex(after)
	}
	return x
}
