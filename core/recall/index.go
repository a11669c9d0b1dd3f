package recall

import (
	"math/bits"
	"slices"
	"strings"
)

// An Index is an immutable set of documents with their statistics. A nil Index
// is an empty one. It holds on to the text of its documents, up to
// [MaxBodyBytes] each, to cut snippets from.
type Index struct {
	dict     *dict
	docs     []*document       // by slot; nil where one is free
	slots    map[string]uint32 // ID → slot
	postings [][]posting       // by stem, in order of slot
	uses     []uint32          // by surface: documents that contain it
	norms    [][numFields]float64
}

// Build indexes docs. Of two documents with one ID the later counts.
func Build(docs []Doc) *Index { return (*Index)(nil).Update(docs) }

// Len returns the number of documents.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return len(x.slots)
}

// Has reports whether the index holds the document with this hash, so that
// [Index.Update] needs no text of it.
func (x *Index) Has(id, hash string) bool {
	if x == nil || hash == "" {
		return false
	}
	slot, ok := x.slots[id]
	return ok && x.docs[slot].hash == hash
}

// A Cut names a field of which only the beginning is searched, because it is
// longer than the caps of this package.
type Cut struct {
	ID    string
	Field Field
	Bytes int // searched, from the beginning
}

// Cuts lists what the caps left out, by ID and field.
func (x *Index) Cuts() []Cut {
	if x == nil {
		return nil
	}
	var cuts []Cut
	for _, d := range x.docs {
		if d == nil {
			continue
		}
		for f := range numFields {
			if d.cut[f] {
				cuts = append(cuts, Cut{d.id, f, len(d.text[f])})
			}
		}
	}
	slices.SortStableFunc(cuts, func(a, b Cut) int { return strings.Compare(a.ID, b.ID) })
	return cuts
}

// Update returns an index of exactly docs. It reuses what x knows of documents
// with an unchanged hash and equals in every search result what [Build] would
// return; x stays as it was. Where nothing changed it returns x.
func (x *Index) Update(docs []Doc) *Index {
	if x == nil {
		x = &Index{}
	}
	p := x.plan(docs)
	if len(p.changed) == 0 && len(p.gone) == 0 {
		return x
	}
	if len(p.changed)+len(p.gone) > len(x.slots)/2 {
		return x.rebuild(p)
	}
	n := x.patch(p)
	if n.wasteful() {
		return n.rebuild(plan{kept: n.plan(nil).gone})
	}
	return n
}

// A plan is the difference between an index and a list of documents.
type plan struct {
	kept    []uint32 // slots
	gone    []uint32 // slots
	changed []Doc
}

func (x *Index) plan(docs []Doc) plan {
	var p plan
	seen := make([]bool, len(x.docs))
	last := make(map[string]int, len(docs))
	for i := range docs {
		last[docs[i].ID] = i
	}
	for i := range docs {
		doc := &docs[i]
		if last[doc.ID] != i {
			continue
		}
		slot, ok := x.slots[doc.ID]
		if !ok {
			p.changed = append(p.changed, *doc)
			continue
		}
		seen[slot] = true
		if x.docs[slot].same(doc) {
			p.kept = append(p.kept, slot)
		} else {
			p.changed = append(p.changed, *doc)
		}
	}
	for slot, d := range x.docs {
		if d != nil && !seen[slot] {
			p.gone = append(p.gone, uint32(slot))
		}
	}
	return p
}

// rebuild reads every document anew, the kept ones from the text x holds.
func (x *Index) rebuild(p plan) *Index {
	n := &Index{dict: newDict(), slots: make(map[string]uint32, len(p.kept)+len(p.changed))}
	r := reader{dict: n.dict}
	lists := make([][]posting, 0, len(p.kept)+len(p.changed))
	add := func(id, hash string, text [numFields]string, cut [numFields]bool) {
		slot := uint32(len(n.docs))
		d, list := r.read(id, hash, text, cut, slot)
		n.docs, lists = append(n.docs, d), append(lists, list)
		n.slots[id] = slot
	}
	for _, slot := range p.kept {
		d := x.docs[slot]
		add(d.id, d.hash, d.text, d.cut)
	}
	for i := range p.changed {
		doc := &p.changed[i]
		add(doc.ID, doc.Hash, doc.fields(), [numFields]bool{})
	}
	n.dict.seal()
	n.uses = make([]uint32, len(n.dict.surfaces))
	n.postings = n.invert(lists)
	n.normalise()
	return n
}

// invert turns postings by document into postings by stem, in one array.
func (x *Index) invert(lists [][]posting) [][]posting {
	counts := make([]int, len(x.dict.stems))
	total := 0
	for slot, d := range x.docs {
		for i, t := range d.terms {
			counts[t.stem]++
			x.count(t.stem, lists[slot][i].forms, +1)
		}
		total += len(d.terms)
	}
	flat := make([]posting, total)
	out := make([][]posting, len(counts))
	from := 0
	for st, n := range counts {
		out[st] = flat[from : from : from+n]
		from += n
	}
	for slot, d := range x.docs {
		for i, t := range d.terms {
			out[t.stem] = append(out[t.stem], lists[slot][i])
		}
	}
	return out
}

// count adds by to the uses of those forms of a stem that forms names.
func (x *Index) count(stem, forms uint32, by int32) {
	ids := x.dict.stems[stem].forms
	for ; forms != 0; forms &= forms - 1 {
		x.uses[ids[bits.TrailingZeros32(forms)]] += uint32(by)
	}
}

// normalise prepares the length normalisation of every field of every document.
func (x *Index) normalise() {
	var total [numFields]float64
	for _, d := range x.docs {
		if d == nil {
			continue
		}
		for f, n := range d.length {
			total[f] += float64(n)
		}
	}
	x.norms = make([][numFields]float64, len(x.docs))
	for slot, d := range x.docs {
		if d == nil {
			continue
		}
		for f, n := range d.length {
			if n > 0 {
				average := total[f] / float64(len(x.slots))
				x.norms[slot][f] = fieldWeights[f] / (1 - b + b*float64(n)/average)
			}
		}
	}
}

// wasteful reports that most words of the dict belong to documents that are
// gone, so that memory stays bounded by what is indexed.
func (x *Index) wasteful() bool {
	dead := 0
	for _, n := range x.uses {
		if n == 0 {
			dead++
		}
	}
	return dead > len(x.uses)/2+len(stopWords)
}
