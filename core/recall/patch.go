package recall

import (
	"cmp"
	"maps"
	"slices"
)

// patch returns x with the changed documents replaced or added and the others
// removed. Only the postings of their terms are written anew.
func (x *Index) patch(p plan) *Index {
	n := &Index{
		dict:     x.dict.fork(),
		docs:     slices.Clone(x.docs),
		slots:    x.slots,
		postings: slices.Clone(x.postings),
		uses:     slices.Clone(x.uses),
	}
	if !x.sameIDs(p) {
		n.slots = maps.Clone(x.slots)
	}
	deltas := deltas{}
	for _, slot := range p.gone {
		delete(n.slots, x.docs[slot].id)
		n.remove(x, slot, deltas)
	}
	free := n.freeSlots()
	r := reader{dict: n.dict}
	for i := range p.changed {
		doc := &p.changed[i]
		slot, known := x.slots[doc.ID]
		switch {
		case known:
			n.remove(x, slot, deltas)
		case len(free) > 0:
			slot, free = free[0], free[1:]
		default:
			slot = uint32(len(n.docs))
			n.docs = append(n.docs, nil)
		}
		if !known {
			n.slots[doc.ID] = slot
		}
		d, list := r.read(doc.ID, doc.Hash, doc.fields(), [numFields]bool{}, slot)
		n.docs[slot] = d
		n.uses = append(n.uses, make([]uint32, len(n.dict.surfaces)-len(n.uses))...)
		n.postings = append(n.postings, make([][]posting, len(n.dict.stems)-len(n.postings))...)
		for j, t := range d.terms {
			n.count(t.stem, list[j].forms, +1)
			deltas.at(t.stem).add = append(deltas.at(t.stem).add, list[j])
		}
	}
	for stem, d := range deltas {
		n.postings[stem] = d.apply(n.postings[stem])
	}
	n.normalise()
	return n
}

// remove takes the document in a slot of the index before out of x.
func (x *Index) remove(before *Index, slot uint32, deltas deltas) {
	for _, t := range before.docs[slot].terms {
		p, _ := findPosting(before.postings[t.stem], slot)
		x.count(t.stem, p.forms, -1)
		deltas.at(t.stem).drop = append(deltas.at(t.stem).drop, slot)
	}
	x.docs[slot] = nil
}

// sameIDs reports that the plan only edits documents that x has, so that the
// next generation can share the map of IDs.
func (x *Index) sameIDs(p plan) bool {
	for i := range p.changed {
		if _, ok := x.slots[p.changed[i].ID]; !ok {
			return false
		}
	}
	return len(p.gone) == 0
}

func (x *Index) freeSlots() []uint32 {
	var free []uint32
	for slot, d := range x.docs {
		if d == nil {
			free = append(free, uint32(slot))
		}
	}
	return free
}

// deltas is what an update does to postings, by stem.
type deltas map[uint32]*delta

type delta struct {
	drop []uint32 // slots
	add  []posting
}

func (d deltas) at(stem uint32) *delta {
	one := d[stem]
	if one == nil {
		one = &delta{}
		d[stem] = one
	}
	return one
}

// apply returns a new list; the old one belongs to the generation before.
func (d *delta) apply(old []posting) []posting {
	slices.Sort(d.drop)
	slices.SortFunc(d.add, func(p, q posting) int { return cmp.Compare(p.slot, q.slot) })
	list := make([]posting, 0, max(0, len(old)+len(d.add)-len(d.drop)))
	add, drop := d.add, d.drop
	for _, p := range old {
		for len(add) > 0 && add[0].slot < p.slot {
			list, add = append(list, add[0]), add[1:]
		}
		if len(drop) > 0 && drop[0] == p.slot {
			drop = drop[1:]
			continue
		}
		list = append(list, p)
	}
	return append(list, add...)
}

func findPosting(list []posting, slot uint32) (posting, bool) {
	i, ok := slices.BinarySearchFunc(list, slot, func(p posting, s uint32) int { return cmp.Compare(p.slot, s) })
	if !ok {
		return posting{}, false
	}
	return list[i], true
}
