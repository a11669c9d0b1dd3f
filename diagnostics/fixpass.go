package diagnostics

import (
	"cmp"
	"slices"
	"sort"

	"mem/core/change"
	"mem/core/text"
)

// pass gathers the changes of one round. One that overlaps an earlier one waits
// for the next round, where it is made anew from the text as it is then.
type pass struct{ files map[string]*pending }

type pending struct {
	base   string
	create bool
	edits  []text.Edit // in the order of inOrder
	text   string      // of a file that is created
}

func (p pending) after() (string, bool) {
	if p.create {
		return p.text, true
	}
	return text.Apply(p.base, p.edits)
}

// makeable reports whether a change is one that a pass can take: edits that fit, and
// files that are created.
func makeable(c change.Change) bool {
	for i, f := range c.Files {
		if f.Kind != change.Edit && f.Kind != change.Create || !fits(f.Base, inOrder(f.Edits)) ||
			slices.ContainsFunc(c.Files[:i], func(g change.File) bool { return g.Path == f.Path }) {
			return false
		}
	}
	return true
}

// add takes all of a change that is makeable, or nothing.
func (p *pass) add(c change.Change) bool {
	if c.Empty() || !makeable(c) {
		return false
	}
	own := make([][]text.Edit, len(c.Files))
	for i, f := range c.Files {
		own[i] = inOrder(f.Edits)
		have := p.files[f.Path]
		if have != nil && (f.Kind != change.Edit || have.create || have.base != f.Base || overlap(have.edits, own[i])) {
			return false
		}
	}
	for i, f := range c.Files {
		have := p.files[f.Path]
		if have == nil {
			have = &pending{base: f.Base, create: f.Kind == change.Create, text: f.New}
			p.files[f.Path] = have
		}
		for _, e := range own[i] {
			have.edits = slices.Insert(have.edits, behind(have.edits, e), e)
		}
	}
	return true
}

// order is how the edits of a file stand: by place, insertions before what replaces
// the text that stands there, since text.Apply takes them in no other order.
func order(a, b text.Edit) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(min(a.Len(), 1), min(b.Len(), 1)))
}

// inOrder gives a copy of edits in that order. Insertions at one place keep theirs.
func inOrder(edits []text.Edit) []text.Edit {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, order)
	return edits
}

// behind gives the index at which e goes into edits, behind its equals.
func behind(edits []text.Edit, e text.Edit) int {
	return sort.Search(len(edits), func(i int) bool { return order(edits[i], e) > 0 })
}

// fits reports whether text.Apply makes edits that stand in order.
func fits(base string, edits []text.Edit) bool {
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(base) {
			return false
		}
		at = e.End
	}
	return true
}

// overlap reports whether one of the edits touches the same bytes as some of those
// that stand in order and fit. Insertions at one place do not: they are made in the
// order of the findings.
func overlap(ordered, edits []text.Edit) bool {
	for _, e := range edits {
		i := behind(ordered, e)
		if i > 0 && ordered[i-1].End > e.Start || i < len(ordered) && ordered[i].Start < e.End {
			return true
		}
	}
	return false
}
