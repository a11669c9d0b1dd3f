package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary is a set of words to correct a misspelt one with, for an index
// whose postings are not in memory. The zero value is empty. Adding and looking
// up at the same time needs a lock; looking up alone does not.
type Vocabulary struct {
	words []vocabularyWord
	seen  map[string]struct{}
}

type vocabularyWord struct {
	text    string
	letters uint8
	sig     uint32
}

// Correctable reports whether word, as a [Token.Surface], can stand in a
// [Vocabulary]: a word of letters alone, neither very short nor very long.
func Correctable(word string) bool {
	letters, _ := signature(word)
	return letters > 0
}

// Add takes word in, unless it is there or is not [Correctable], and reports
// whether it did.
func (v *Vocabulary) Add(word string) bool {
	letters, sig := signature(word)
	if letters == 0 {
		return false
	}
	if _, ok := v.seen[word]; ok {
		return false
	}
	if v.seen == nil {
		v.seen = map[string]struct{}{}
	}
	v.seen[word] = struct{}{}
	v.words = append(v.words, vocabularyWord{word, letters, sig})
	return true
}

// Has reports whether word was added.
func (v *Vocabulary) Has(word string) bool {
	_, ok := v.seen[word]
	return ok
}

// Len returns the number of words.
func (v *Vocabulary) Len() int { return len(v.words) }

// Nearest returns the words that word may have been meant as, likeliest first, of
// different stems and few, by the rules of [Index.Search], and how many edits they
// are away. uses says how often a word occurs now; one that does not occur is not
// offered. It is asked about words that are near, and about no others.
func (v *Vocabulary) Nearest(word string, uses func(word string) int) (words []string, edits int) {
	letters, sig := signature(word)
	if letters < slipMin {
		return nil, 0
	}
	most := 1
	if letters >= twoSlipsMin {
		most = 2
	}
	near := make([][]string, most+1) // by distance
	for i := range v.words {
		w := &v.words[i]
		if abs(int(w.letters)-int(letters)) > most || farApart(w.sig, sig, most) {
			continue
		}
		if d := distance(word, w.text, most); d > 0 && d <= most {
			near[d] = append(near[d], w.text)
		}
	}
	for d := 1; d <= most; d++ {
		if found := likeliestWords(near[d], word, uses); len(found) > 0 {
			return found, d
		}
	}
	return nil, 0
}

// likeliestWords orders like [Index.likeliest].
func likeliestWords(words []string, typed string, uses func(string) int) []string {
	first, _ := utf8.DecodeRuneInString(typed)
	type candidate struct {
		text, stem string
		other      int // 1 where the first letter differs
		uses       int
	}
	var all []candidate
	for _, w := range words {
		n := uses(w)
		if n == 0 {
			continue
		}
		c := candidate{text: w, stem: stemOf(w), uses: n}
		if r, _ := utf8.DecodeRuneInString(w); r != first {
			c.other = 1
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(p, q candidate) int {
		return cmp.Or(cmp.Compare(p.other, q.other), cmp.Compare(q.uses, p.uses), strings.Compare(p.text, q.text))
	})
	var kept []string
	stems := map[string]bool{}
	for _, c := range all {
		if len(kept) < maxCandidates && !stems[c.stem] {
			stems[c.stem] = true
			kept = append(kept, c.text)
		}
	}
	return kept
}

// StemOf returns the term that [Tokenizer.Tokens] yields for a word as folded.
func StemOf(surface string) string { return stemOf(surface) }

// Excerpt cuts the piece of text, about width bytes long, in which terms of the
// largest weight stand together; weights are by [Token.Term]. The piece begins
// and ends on rune boundaries and, where it can, between words. A text without
// any of the terms gives its beginning. width is bounded by [MaxSnippetBytes].
func (t *Tokenizer) Excerpt(text string, weights map[string]float64, width int) Snippet {
	if width <= 0 {
		width = DefaultSnippetBytes
	}
	width = min(width, MaxSnippetBytes)
	var (
		found  []sought
		number = map[string]int{}
		places []occurrence
	)
	for tok := range t.Tokens(text) {
		w, ok := weights[tok.Term]
		if !ok {
			continue
		}
		n, ok := number[tok.Term]
		if !ok {
			n = len(found)
			number[tok.Term] = n
			found = append(found, sought{weight: w})
		}
		places = append(places, occurrence{Span{tok.Start, tok.End}, n})
		if len(places) == maxOccurs {
			break
		}
	}
	slices.SortStableFunc(places, func(p, q occurrence) int { return cmp.Compare(p.Start, q.Start) })
	return cutAround(text, densest(places, found, width), places, width, Body)
}
