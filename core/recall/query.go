package recall

import "slices"

// A term is one distinct term of a query with the ways to match it.
type term struct {
	index      int
	start, end int // in the query
	kind       Kind
	alts       []alternative
}

// covers reports that t stands for a longer piece of the query around o.
func (t *term) covers(o *term) bool {
	return t.start <= o.start && o.end <= t.end && t.end-t.start > o.end-o.start
}

// An alternative is one stem to look for.
type alternative struct {
	stem   uint32
	form   uint32 // the bit of the form that was typed; 0 if no document has it
	list   []posting
	weight float64 // rarity, and factors below 1 for what was not typed like this
	word   string  // for the reader
}

// parse turns a query into terms and notes in res what became of its words.
func (x *Index) parse(query string, res *Result) []term {
	query = query[:runeBoundary(query, MaxQueryBytes)]
	p := parser{x: x, query: query, res: res, stems: map[string]bool{}}
	var s scanner
	for i := 0; i < len(query); {
		i = s.step(query, i, p.token)
	}
	p.correct()
	p.weigh()
	return p.terms
}

type parser struct {
	x     *Index
	query string
	res   *Result
	stems map[string]bool // seen
	terms []term
	lost  []lost
}

// lost is a word that the vocabulary lacks.
type lost struct {
	word       string // folded
	start, end int
	kind       Kind
}

func (p *parser) token(surface []byte, start, end int, kind Kind) {
	word := string(surface)
	if isStopWord(word) {
		p.ignore(start, end)
		return
	}
	text := stemOf(word)
	if p.stems[text] {
		return
	}
	if len(p.stems) >= MaxQueryTerms {
		p.ignore(start, end)
		return
	}
	p.stems[text] = true
	if a, ok := p.x.lookup(surface, text); ok {
		a.word = p.query[start:end]
		p.add(start, end, kind, a)
	} else {
		p.lost = append(p.lost, lost{word, start, end, kind})
	}
}

func (p *parser) ignore(start, end int) {
	if word := p.query[start:end]; !slices.Contains(p.res.Ignored, word) {
		p.res.Ignored = append(p.res.Ignored, word)
	}
}

func (p *parser) add(start, end int, kind Kind, alts ...alternative) {
	p.terms = append(p.terms, term{len(p.terms), start, end, kind, alts})
}

// lookup finds a word of the query, or else its stem, among the documents.
func (x *Index) lookup(surface []byte, text string) (alternative, bool) {
	if x == nil || x.dict == nil {
		return alternative{}, false
	}
	if id, ok := x.dict.surface(surface); ok && x.dict.surfaces[id].stem != noStem {
		return x.exactly(id)
	}
	st, ok := x.dict.stem(text)
	if !ok {
		return alternative{}, false
	}
	return x.alternative(st, 0)
}

func (x *Index) exactly(id uint32) (alternative, bool) {
	s := &x.dict.surfaces[id]
	return x.alternative(s.stem, 1<<s.form)
}

func (x *Index) alternative(stem, form uint32) (alternative, bool) {
	list := x.postings[stem]
	return alternative{stem: stem, form: form, list: list, weight: x.rarity(len(list))}, len(list) > 0
}

// correct looks for what the lost words may have meant. An identifier or a pair
// of characters of which all parts are known is not lost.
func (p *parser) correct() {
	for _, l := range p.lost {
		if (l.kind == Whole || l.kind == Bigram) && !p.partLost(l) {
			continue
		}
		found, edits := p.x.corrections(l.word)
		if len(found) == 0 {
			if l.kind != Whole && l.kind != Bigram {
				p.res.Unknown = append(p.res.Unknown, p.query[l.start:l.end])
			}
			continue
		}
		c := Correction{Word: p.query[l.start:l.end], Start: l.start, End: l.end, Edits: edits}
		var alts []alternative
		for _, id := range found {
			a, _ := p.x.exactly(id)
			a.word = p.x.dict.surfaces[id].text
			a.weight *= [...]float64{1, oneSlip, twoSlips}[edits]
			alts = append(alts, a)
			c.To = append(c.To, a.word)
		}
		p.res.Corrections = append(p.res.Corrections, c)
		p.add(l.start, l.end, l.kind, alts...)
	}
}

func (p *parser) partLost(whole lost) bool {
	return slices.ContainsFunc(p.lost, func(l lost) bool {
		return l.kind != Whole && l.kind != Bigram && whole.start <= l.start && l.end <= whole.end
	})
}

// weigh lowers single characters of a longer run: the pairs say more.
func (p *parser) weigh() {
	for i := range p.terms {
		t := &p.terms[i]
		if t.kind != Ideograph {
			continue
		}
		if slices.ContainsFunc(p.terms, func(o term) bool { return o.kind == Bigram && o.covers(t) }) {
			for j := range t.alts {
				t.alts[j].weight *= inIdeographs
			}
		}
	}
}
