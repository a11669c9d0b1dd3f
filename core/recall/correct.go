package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// corrections returns the words of the index nearest to a word that it lacks,
// at most maxCandidates of different stems, and their distance in edits: one
// for words of 4 to 7 letters, up to two for longer ones, and two only where
// nothing is one away.
//
// It passes over the whole vocabulary, so a slip in the first letter costs
// nothing extra; length and signature rule out all but a few words in two
// comparisons each, which makes an index of neighbourhoods unnecessary.
func (x *Index) corrections(word string) (ids []uint32, edits int) {
	letters, sig := signature(word)
	if x == nil || x.dict == nil || letters < slipMin {
		return nil, 0
	}
	limit := 1
	if letters >= twoSlipsMin {
		limit = 2
	}
	for id := range x.dict.surfaces {
		s := &x.dict.surfaces[id]
		if s.letters == 0 || abs(int(s.letters)-int(letters)) > limit ||
			farApart(s.sig, sig, limit) || x.uses[id] == 0 {
			continue
		}
		d := distance(word, s.text, limit)
		if d > limit {
			continue
		}
		if d < limit {
			ids, limit = ids[:0], d
		}
		ids = append(ids, uint32(id))
	}
	if len(ids) == 0 {
		return nil, 0
	}
	return x.likeliest(ids, word), limit
}

// likeliest orders candidates: the first letter is seldom the wrong one, then
// the more frequent word. Of the forms of one stem it keeps the first.
func (x *Index) likeliest(ids []uint32, word string) []uint32 {
	first, _ := utf8.DecodeRuneInString(word)
	other := func(id uint32) int {
		if r, _ := utf8.DecodeRuneInString(x.dict.surfaces[id].text); r == first {
			return 0
		}
		return 1
	}
	slices.SortFunc(ids, func(p, q uint32) int {
		return cmp.Or(
			cmp.Compare(other(p), other(q)),
			cmp.Compare(x.uses[q], x.uses[p]),
			strings.Compare(x.dict.surfaces[p].text, x.dict.surfaces[q].text),
		)
	})
	var kept []uint32
	for _, id := range ids {
		st := x.dict.surfaces[id].stem
		if !slices.ContainsFunc(kept, func(k uint32) bool { return x.dict.surfaces[k].stem == st }) {
			kept = append(kept, id)
		}
		if len(kept) == maxCandidates {
			break
		}
	}
	return kept
}

// distance is the Damerau-Levenshtein distance in its restricted form (no edit
// between two letters that were swapped), or limit+1 where it is greater. Words
// are at most maxWordBytes runes.
func distance(p, q string, limit int) int {
	var pr, qr, r0, r1, r2 [maxWordBytes + 1]rune
	a, z := runesInto(pr[:0], p), runesInto(qr[:0], q)
	before, last, row := r0[:], r1[:], r2[:]
	for j := range len(z) + 1 {
		last[j] = rune(j)
	}
	for i := 1; i <= len(a); i++ {
		row[0] = rune(i)
		least := row[0]
		for j := 1; j <= len(z); j++ {
			cost := rune(1)
			if a[i-1] == z[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == z[j-2] && a[i-2] == z[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if int(least) > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(int(last[len(z)]), limit+1)
}

func runesInto(buf []rune, s string) []rune {
	for _, r := range s {
		buf = append(buf, r)
	}
	return buf
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
