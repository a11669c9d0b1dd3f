package index

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/recall"
)

// Query is what is searched for.
type Query struct {
	Text     string
	Project  string    // as in Source; "" is all
	Sessions []string  // ids; none is all
	From, To time.Time // of the entry, To exclusive; zero is open. Entries without a time are outside of any
	Roles    []Role    // none is all
	Limit    int       // hits; 0 is recall.DefaultLimit, at most MaxLimit
	// Begin is where in the ranked order to begin: the Next of an earlier result, or of
	// one of its hits.
	Begin int
	// SnippetBytes is the length of snippets; 0 is recall.DefaultSnippetBytes.
	SnippetBytes int
}

// MaxLimit is the largest number of hits of one search: each is read from its
// transcript.
const MaxLimit = 200

const (
	// maxTerms is how many terms of a query are searched.
	maxTerms = recall.MaxQueryTerms
	// rankEntries is how many entries one search ranks. Ranking one costs FTS5
	// about 1.5 µs, so that this keeps a search within 30 ms.
	rankEntries = 8_000
	// addEntries is how many entries may be ranked by the rare words of a query for
	// its common ones to be looked at in them: that costs three times as much.
	addEntries = 2_500
	// manyEntries is from where on a term is not counted any further.
	manyEntries = 50_000
	// Weights of corrected words in snippets; FTS5 knows no weights.
	oneSlip, twoSlips = 0.7, 0.5
)

// sought is a term of the query with what is known of it.
type sought struct {
	term   string // as FTS5 has it
	stem   string // as the tokeniser has it
	word   string // as typed, or as corrected
	count  int
	weight float64 // rarity, for snippets
}

// parsed is a query that was compared with the index.
type parsed struct {
	terms       []sought // rarest first
	corrections []recall.Correction
	unknown     []string
	ignored     []string
}

// parse turns the text of a query into terms that the index has.
func (x *Index) parse(ctx context.Context, text string) (parsed, error) {
	var (
		p    parsed
		lost []recall.Token
		seen = map[string]bool{}
		runs [][2]int // of CJK pairs that the index has: FTS5 has no weights, so single characters are left out there
	)
	if len(text) > recall.MaxQueryBytes {
		text = cutEnd(text, recall.MaxQueryBytes)
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, " ")
	}
	var tok recall.Tokenizer
	var all []recall.Token
	for t := range tok.Tokens(text) {
		all = append(all, t)
	}
	// Pairs first: where they are known, single characters say nothing more.
	slices.SortStableFunc(all, func(a, b recall.Token) int {
		return boolInt(a.Kind == recall.Ideograph) - boolInt(b.Kind == recall.Ideograph)
	})
	for _, t := range all {
		term := termOf(t.Term)
		if seen[term] {
			continue
		}
		seen[term] = true
		word := text[t.Start:t.End]
		if t.Kind == recall.Ideograph && slices.ContainsFunc(runs, func(r [2]int) bool { return r[0] <= t.Start && t.End <= r[1] }) {
			continue
		}
		if len(p.terms)+len(lost) >= maxTerms {
			p.ignored = append(p.ignored, word)
			continue
		}
		n, err := x.count(ctx, term)
		if err != nil {
			return p, err
		}
		if n == 0 {
			lost = append(lost, t)
			continue
		}
		if t.Kind == recall.Bigram {
			runs = append(runs, [2]int{t.Start, t.End})
		}
		p.add(sought{term: term, stem: t.Term, word: word, count: n, weight: x.rarity(n)})
	}
	if err := x.correct(ctx, &p, text, lost); err != nil {
		return p, err
	}
	slices.SortStableFunc(p.terms, func(a, b sought) int { return a.count - b.count })
	return p, nil
}

func (p *parsed) add(s sought) {
	if !slices.ContainsFunc(p.terms, func(o sought) bool { return o.term == s.term }) {
		p.terms = append(p.terms, s)
	}
}

// correct looks for what the words may have meant that the index lacks. An
// identifier or a pair of characters of which all parts are known is not lost.
func (x *Index) correct(ctx context.Context, p *parsed, text string, lost []recall.Token) error {
	for _, t := range lost {
		whole := t.Kind == recall.Whole || t.Kind == recall.Bigram
		if whole && !slices.ContainsFunc(lost, func(o recall.Token) bool {
			return o.Kind != recall.Whole && o.Kind != recall.Bigram && t.Start <= o.Start && o.End <= t.End
		}) {
			continue
		}
		word := text[t.Start:t.End]
		var near []string
		edits := 0
		if recall.Correctable(t.Surface) {
			v, err := x.vocabulary(ctx)
			if err != nil {
				return err
			}
			near, edits = v.Nearest(t.Surface, func(w string) int {
				n, cerr := x.count(ctx, termOf(recall.StemOf(w)))
				if cerr != nil {
					err = cerr
				}
				return n
			})
			if err != nil {
				return err
			}
		}
		if len(near) == 0 {
			if !whole && !slices.Contains(p.unknown, word) {
				p.unknown = append(p.unknown, word)
			}
			continue
		}
		p.corrections = append(p.corrections, recall.Correction{Word: word, Start: t.Start, End: t.End, To: near, Edits: edits})
		for _, w := range near {
			stem := recall.StemOf(w)
			term := termOf(stem)
			n, err := x.count(ctx, term)
			if err != nil {
				return err
			}
			p.add(sought{term: term, stem: stem, word: w, count: n, weight: x.rarity(n) * [...]float64{1, oneSlip, twoSlips}[edits]})
		}
	}
	return nil
}

// rarity is the weight of a term in count entries, as BM25 has it.
func (x *Index) rarity(count int) float64 {
	n := float64(max(x.known.entries, count))
	return math.Log(1 + (n-float64(count)+0.5)/(float64(count)+0.5))
}

// expression writes the terms for FTS5, and says whether entries are left out
// because they have only common words. Terms hold neither white space nor a
// quotation mark; they are quoted because AND, OR and NOT are words.
func (p *parsed) expression() (expr string, cut bool) {
	var rare, common []string
	sum := 0
	for _, s := range p.terms {
		if len(rare) > 0 && sum+s.count > rankEntries {
			common = append(common, quoteTerm(s.term))
			continue
		}
		sum += s.count
		rare = append(rare, quoteTerm(s.term))
	}
	expr = strings.Join(rare, " OR ")
	if len(common) > 0 && sum <= addEntries {
		expr = "(" + expr + ") AND (" + expr + " OR " + strings.Join(common, " OR ") + ")"
	}
	return expr, len(common) > 0
}

func quoteTerm(term string) string { return `"` + term + `"` }

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
