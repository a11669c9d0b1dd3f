package diagnostics

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"

	"mem/core/change"
	"mem/core/text"
)

// candidate is the change that mends one finding.
type candidate struct {
	Finding
	offer  Offer
	line   int // from 1
	change change.Change
}

func (c candidate) refused(why error) Refused {
	return Refused{c.Rule, c.offer.Fix, c.Path, c.line, why.Error()}
}

// round makes the fixes of some findings of one Snapshot: as many as fit together,
// and those that cannot be made. moved are the files that have text of another file.
func (e *Engine) round(ctx context.Context, s *Snapshot, found []Finding, moved map[string]bool, o FixOptions) (made []candidate, refused []Refused, err error) {
	var open []candidate
	for _, f := range found {
		offer, ok := e.pick(f, o)
		if !ok {
			continue
		}
		c := candidate{Finding: f, offer: offer, line: f.Text.LineAt(f.Span.Start) + 1}
		if moved[f.Path] && e.Fix(offer.Fix).ByTime {
			refused = append(refused, c.refused(errMoved))
			continue
		}
		c.change, err = e.Make(ctx, s, f, offer)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil && !makeable(c.change) {
			err = fmt.Errorf("the fix %s made edits that overlap or lie outside of the file; please report this", offer.Fix)
		}
		switch {
		case err != nil:
			refused = append(refused, c.refused(err))
		case !c.change.Empty():
			open = append(open, c)
		}
	}
	look := blame{o.Accept, maxQuestions}
	for len(open) > 0 {
		p := together(made)
		var fit, rest []candidate
		for _, c := range open {
			if p.add(c.change) {
				fit = append(fit, c)
			} else {
				rest = append(rest, c)
			}
		}
		good, bad, whole := look.accepted(fit)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		refused = append(refused, bad...)
		if len(good) == len(fit) && len(made) == 0 && whole {
			return good, refused, nil
		}
		// What is accepted in parts may be refused as a whole, such as two halves of a
		// secret. A part is made, and the rest is looked at in the next round.
		for len(good) > 0 && o.Accept != nil && o.Accept(together(append(slices.Clip(made), good...)).change()) != nil {
			good = good[:len(good)/2]
		}
		made = append(made, good...)
		if len(bad) == 0 {
			break
		}
		open = rest // a refused one stands in nobody's way
	}
	return made, refused, nil
}

// maxQuestions bounds how often the ones to blame are looked for in a round. Each costs
// about as much as the files.
const maxQuestions = 500

// blame looks for the changes that accept refuses.
type blame struct {
	accept func(change.Change) error
	left   int // questions
}

// accepted parts candidates that fit together into those that accept takes and the
// others. It asks for all of them at once, since to look at a file for each change
// of it costs the square, and for the ones to blame only where it has to; those that
// stand together when there are no questions left are refused together. whole says
// that it takes the good ones together.
func (b *blame) accepted(all []candidate) (good []candidate, bad []Refused, whole bool) {
	if b.accept == nil || len(all) == 0 {
		return all, nil, true
	}
	b.left--
	err := b.accept(together(all).change())
	switch {
	case err == nil:
		return all, nil, true
	case len(all) == 1 || b.left < 0:
		for _, c := range all {
			bad = append(bad, c.refused(err))
		}
		return nil, bad, false
	}
	good, bad, _ = b.accepted(all[:len(all)/2])
	more, worse, _ := b.accepted(all[len(all)/2:])
	return append(slices.Clip(good), more...), append(bad, worse...), false
}

// together gives the pass of candidates that fit together.
func together(all []candidate) *pass {
	p := &pass{files: map[string]*pending{}}
	for _, c := range all {
		p.add(c.change)
	}
	return p
}

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

// change gives what the pass gathered as one change.
func (p *pass) change() change.Change {
	c := change.Change{Op: "fix"}
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[path]
		if f.create {
			c.Files = append(c.Files, change.File{Path: path, Kind: change.Create, New: f.text})
		} else {
			c.Files = append(c.Files, change.File{Path: path, Kind: change.Edit, Base: f.base, Edits: f.edits})
		}
	}
	return c
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
