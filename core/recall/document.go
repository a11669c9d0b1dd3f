package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A document is what the index keeps of a Doc. It is immutable and shared
// between generations.
type document struct {
	id, hash string
	text     [numFields]string // what was indexed: the field up to its cap
	cut      [numFields]bool   // the field was longer
	length   [numFields]uint32 // terms
	terms    []docTerm         // by stem
}

type docTerm struct {
	stem  uint32
	first uint32 // byte offset of its first occurrence in the body, or noOffset
}

const noOffset = math.MaxUint32

func (d *document) first(stem uint32) (int, bool) {
	i, ok := slices.BinarySearchFunc(d.terms, stem, func(t docTerm, s uint32) int { return cmp.Compare(t.stem, s) })
	if !ok || d.terms[i].first == noOffset {
		return 0, false
	}
	return int(d.terms[i].first), true
}

// same reports whether doc need not be indexed again.
func (d *document) same(doc *Doc) bool {
	if doc.Hash != "" || d.hash != "" {
		return doc.Hash == d.hash
	}
	for f, text := range doc.fields() {
		if d.cut[f] || d.text[f] != text {
			return false
		}
	}
	return true
}

// A posting says how often a stem occurs in one document, by field, and in
// which of its forms. Counts stop at 65,535, where they have long stopped to
// matter.
type posting struct {
	slot  uint32
	forms uint32 // bit i: the form i of the stem occurs
	tf    [numFields]uint16
}

// A reader turns documents into statistics. It owns the dict while it reads.
type reader struct {
	dict    *dict
	scan    scanner
	stats   []termStats // by stem
	touched []uint32    // stems of the current document
}

type termStats struct {
	forms, first uint32
	tf           [numFields]uint16
}

// read indexes one document. The postings are in the order of document.terms.
func (r *reader) read(id, hash string, text [numFields]string, cut [numFields]bool, slot uint32) (*document, []posting) {
	d := &document{id: id, hash: hash, cut: cut}
	for f := range numFields {
		d.text[f] = r.field(d, f, text[f])
	}
	slices.Sort(r.touched)
	d.terms = make([]docTerm, len(r.touched))
	postings := make([]posting, len(r.touched))
	for i, st := range r.touched {
		s := &r.stats[st]
		d.terms[i] = docTerm{st, s.first}
		postings[i] = posting{slot, s.forms, s.tf}
		*s = termStats{}
	}
	r.touched = r.touched[:0]
	return d, postings
}

// field counts the terms of one field up to its caps and returns the text that
// was read. It stops between chunks, so that reading the returned text again
// gives the same terms.
func (r *reader) field(d *document, f Field, text string) string {
	maxBytes, maxTerms := termCap(f)
	full := len(text)
	if len(text) > maxBytes {
		text = text[:runeBoundary(text, maxBytes)]
	}
	n := 0
	emit := func(word []byte, start, _ int, kind Kind) {
		id, ok := r.dict.surface(word)
		if !ok {
			id = r.dict.add(string(word), kind)
		}
		s := &r.dict.surfaces[id]
		if s.stem == noStem {
			return
		}
		n++
		if int(s.stem) >= len(r.stats) {
			r.stats = append(r.stats, make([]termStats, len(r.dict.stems)-len(r.stats))...)
		}
		st := &r.stats[s.stem]
		if st.forms == 0 {
			r.touched = append(r.touched, s.stem)
			st.first = noOffset
		}
		st.forms |= 1 << s.form
		if st.tf[f] < math.MaxUint16 {
			st.tf[f]++
		}
		if f == Body && st.first == noOffset {
			st.first = uint32(start)
		}
	}
	i := 0
	for i < len(text) && n < maxTerms {
		i = r.scan.step(text, i, emit)
	}
	d.length[f] = uint32(n)
	if i < full {
		d.cut[f] = true
		if i < full/2 {
			return strings.Clone(text[:i]) // lets go of the rest
		}
	}
	return text[:i]
}
