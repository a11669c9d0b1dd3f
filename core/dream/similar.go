package dream

import (
	"cmp"
	"hash/maphash"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// shingle is how many words in a row are compared. One changed word changes three of
	// them, so that texts about different things with common phrases stay apart.
	shingle = 3
	// nearJaccard is the share of shingles, of those in either text, from which two topics
	// say the same. In the table of TestWhatIsNear copies with a few words changed have at
	// least 0.68, and topics made from one template about different things at most 0.39.
	nearJaccard = 0.55
	// nearContained is the share of the shorter text's shingles that the longer one has,
	// from which it adds nothing worth a topic of its own: in the same table at least 0.81
	// against at most 0.56. In 19 generated memories the weakest planted pair has 0.85 by
	// either measure and the strongest other one 0.22.
	nearContained = 0.75
	// leastContained is how many shingles the shorter text must have to be told by that: ten
	// words happen to stand in a long text.
	leastContained = 8
	// commonShingle is in how many topics a shingle may stand before it counts as a phrase
	// of the house, which shows nothing and would make the comparison quadratic.
	commonShingle = 24
	// maxShingles bounds those of one topic: about 60 KB of prose.
	maxShingles = 10_000
)

// seed is the same within a process; shingles are never stored.
var seed = maphash.MakeSeed()

// shingles gives the distinct hashes of the word runs of a text, sorted.
func shingles(s string) []uint64 {
	var words [][]byte
	var word []byte
	end := func() {
		if len(word) > 0 {
			words, word = append(words, word), nil
		}
	}
	for _, r := range s {
		switch {
		case r >= 0x2e80 && (unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || unicode.Is(unicode.Hangul, r)):
			end() // written without spaces: each is a word
			words = append(words, utf8.AppendRune(nil, r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word = utf8.AppendRune(word, unicode.ToLower(r))
		case r == '\'' || r == '’': // don't
		default:
			end()
		}
		if len(words) > maxShingles {
			break
		}
	}
	end()
	var h maphash.Hash
	h.SetSeed(seed)
	var out []uint64
	for i := range max(len(words)-shingle+1, min(len(words), 1)) {
		h.Reset()
		for _, w := range words[i:min(i+shingle, len(words))] {
			_, _ = h.Write(w) // never fails
			_ = h.WriteByte(0)
		}
		out = append(out, h.Sum64())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pair is two texts that say nearly the same, by their places in what was compared.
type pair struct {
	a, b      int // a < b
	jaccard   float64
	contained float64 // of the shorter one in the other
}

func (p pair) strength() float64 { return max(p.jaccard, p.contained) }

// near gives the pairs of sets of shingles that are near, the strongest first. Its cost
// grows with the shingles that few sets share, not with the number of pairs.
func near(sets [][]uint64) []pair {
	where := map[uint64][]int32{}
	for i, set := range sets {
		for _, h := range set {
			if at := where[h]; len(at) <= commonShingle {
				where[h] = append(at, int32(i))
			}
		}
	}
	sizes := make([]int, len(sets)) // without phrases of the house
	shared := map[uint64]int{}
	for _, at := range where {
		for k, i := range at {
			if len(at) > commonShingle {
				continue
			}
			sizes[i]++
			for _, j := range at[k+1:] {
				shared[uint64(i)<<32|uint64(j)]++
			}
		}
	}
	var out []pair
	for key, n := range shared {
		i, j := int(key>>32), int(uint32(key))
		less := min(sizes[i], sizes[j])
		p := pair{a: i, b: j, jaccard: float64(n) / float64(sizes[i]+sizes[j]-n), contained: float64(n) / float64(less)}
		if p.jaccard < nearJaccard && (p.contained < nearContained || less < leastContained) {
			continue
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.strength(), x.strength()), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return out
}
