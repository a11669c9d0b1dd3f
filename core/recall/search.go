package recall

import (
	"math"
	"slices"
	"strings"
)

// Options of one search. The zero value is the first DefaultLimit hits.
type Options struct {
	Limit  int // hits to return; 0 is DefaultLimit, at most MaxLimit
	Offset int // hits to skip, for paging

	// Filter says which documents may be found; nil finds all. It is asked once
	// for every document that matches. The rarity of a word is that in the whole
	// index, so scores do not depend on the filter.
	Filter func(id string) bool

	SnippetBytes int // length of snippets; 0 is DefaultSnippetBytes, negative is none
}

// Result of one search. Nothing that was done to the query is silent.
type Result struct {
	Hits  []Hit // best first; equal scores in order of ID
	Total int   // documents that match and pass the filter

	Corrections []Correction // words that were searched as others
	Unknown     []string     // words that no document contains, as typed
	Ignored     []string     // words that were not searched, as typed: stop words, and all beyond MaxQueryTerms

	// Reason says in words why there are no hits; empty where there are some.
	Reason string
}

// Hit is one document that was found.
type Hit struct {
	ID      string
	Score   float64 // comparable within one result only
	Matched []FieldMatch
	Snippet Snippet
}

// FieldMatch says which words of the query a field contains, in some form.
// Words are as typed, corrected ones as the vocabulary has them.
type FieldMatch struct {
	Field Field
	Terms []string
}

// Correction says that a word of the query, which no document contains, was
// searched as others.
type Correction struct {
	Word       string   // as typed
	Start, End int      // its byte span in the query
	To         []string // best first
	Edits      int      // letters inserted, left out, replaced or swapped with a neighbour
}

// Search returns the documents that match any word of query, ranked by BM25F.
//
// A query that is empty or has only stop words finds nothing, and Reason says
// so: any ranking of what it matches would be arbitrary.
func (x *Index) Search(query string, opts Options) Result {
	var res Result
	terms := x.parse(query, &res)
	if len(terms) > 0 {
		scores := x.score(terms)
		hits := x.best(scores, &opts, &res)
		res.Hits = make([]Hit, len(hits))
		for i, h := range hits {
			res.Hits[i] = x.hit(h, terms, opts.SnippetBytes)
		}
	}
	if res.Total == 0 {
		res.Reason = res.reason(query, len(terms) > 0)
	}
	return res
}

func (r *Result) reason(query string, matches bool) string {
	switch {
	case matches:
		return "the filter excludes every match"
	case len(r.Unknown) > 0 && len(r.Ignored) > 0:
		return "no memory contains " + strings.Join(r.Unknown, ", ") + "; not searched: " + strings.Join(r.Ignored, ", ")
	case len(r.Unknown) > 0:
		return "no memory contains " + strings.Join(r.Unknown, ", ")
	case len(r.Ignored) > 0:
		return "the query has only stop words: " + strings.Join(r.Ignored, ", ")
	case strings.TrimSpace(query) == "":
		return "the query is empty"
	}
	return "the query has no words"
}

// score returns the score of every slot. Several spellings of one word, which
// corrections produce, count once: the best of them.
func (x *Index) score(terms []term) []float64 {
	total := make([]float64, len(x.docs))
	var best []float64
	for i := range terms {
		alts := terms[i].alts
		if len(alts) == 1 {
			for _, p := range alts[0].list {
				total[p.slot] += x.gain(&alts[0], p)
			}
			continue
		}
		best = slices.Grow(best[:0], len(x.docs))[:len(x.docs)]
		clear(best)
		for j := range alts {
			for _, p := range alts[j].list {
				best[p.slot] = max(best[p.slot], x.gain(&alts[j], p))
			}
		}
		for slot, s := range best {
			total[slot] += s
		}
	}
	return total
}

// gain is what one word adds to the score of one document: its rarity times the
// saturated sum of its frequencies, each field normalised by its length.
func (x *Index) gain(a *alternative, p posting) float64 {
	norms := &x.norms[p.slot]
	var tf float64
	for f, n := range p.tf {
		tf += float64(n) * norms[f]
	}
	s := a.weight * tf / (k1 + tf)
	if p.forms&a.form == 0 {
		s *= otherForm
	}
	return s
}

// rarity is the inverse document frequency of BM25, never negative.
func (x *Index) rarity(documents int) float64 {
	n, df := float64(len(x.slots)), float64(documents)
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// hit describes one document found.
func (x *Index) hit(s scored, terms []term, snippetBytes int) Hit {
	d := x.docs[s.slot]
	h := Hit{ID: d.id, Score: s.score}
	var (
		weights [numFields]float64
		inField [numFields][]*term
		found   []sought
	)
	words := make([]string, len(terms)) // what the document contains of each
	for i := range terms {
		t := &terms[i]
		for j := range t.alts {
			a := &t.alts[j]
			p, ok := findPosting(a.list, s.slot)
			if !ok {
				continue
			}
			if words[i] == "" {
				words[i] = a.word
			}
			found = append(found, sought{a.stem, a.weight})
			for f, n := range p.tf {
				if n > 0 {
					weights[f] += a.weight
					inField[f] = append(inField[f], t)
				}
			}
		}
	}
	for f := range numFields {
		if m := matchOf(f, inField[f], terms, words); len(m.Terms) > 0 {
			h.Matched = append(h.Matched, m)
		}
	}
	if snippetBytes >= 0 {
		// At equal weight the longer text says more; the name is shown anyway.
		best := Body
		for _, f := range [...]Field{Headings, Description, Name} {
			if weights[f] > weights[best] {
				best = f
			}
		}
		if snippetBytes == 0 {
			snippetBytes = DefaultSnippetBytes
		}
		h.Snippet = x.snippet(d, best, found, min(snippetBytes, MaxSnippetBytes))
	}
	return h
}

// matchOf lists the words found in a field. Parts of an identifier or a run of
// characters that was found as a longer piece are left out.
func matchOf(f Field, in []*term, terms []term, words []string) FieldMatch {
	m := FieldMatch{Field: f}
	for _, t := range in {
		covered := slices.ContainsFunc(in, func(o *term) bool { return o.covers(t) })
		if word := words[t.index]; !covered && !slices.Contains(m.Terms, word) {
			m.Terms = append(m.Terms, word)
		}
	}
	return m
}
