package guard

// keywordFinder finds all of a set of words in one pass over a text, ASCII letters in either case. Words are looked up
// by their first two bytes; every keyword of the rules has at least two.
type keywordFinder struct {
	words  []string
	ids    map[string]int
	starts [1 << 16 / 64]uint64 // bit set: some word begins with these two bytes
	byPair map[uint16][]int
}

// occurrence is one word found: which, and the offset of its first byte.
type occurrence struct{ word, at int }

func newKeywordFinder() *keywordFinder {
	return &keywordFinder{ids: make(map[string]int), byPair: make(map[uint16][]int)}
}

// add returns the number of the word, and registers it if it is new.
func (f *keywordFinder) add(word string) int {
	b := make([]byte, len(word))
	for i := range word {
		b[i] = lower(word[i])
	}
	word = string(b)
	id, ok := f.ids[word]
	if ok {
		return id
	}
	id = len(f.words)
	f.words = append(f.words, word)
	f.ids[word] = id
	if len(word) >= 2 {
		pair := uint16(word[0])<<8 | uint16(word[1])
		f.starts[pair/64] |= 1 << (pair % 64)
		f.byPair[pair] = append(f.byPair[pair], id)
	}
	return id
}

// find returns where words occur in text, ordered by offset, overlapping ones included, and which ones do.
func (f *keywordFinder) find(text string) (occ []occurrence, present []bool) {
	present = make([]bool, len(f.words))
	if len(text) == 0 {
		return nil, present
	}
	pair := uint16(lower(text[0]))
	for i := 1; i < len(text); i++ {
		pair = pair<<8 | uint16(lower(text[i]))
		if f.starts[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, id := range f.byPair[pair] {
			if hasFold(text[i-1:], f.words[id]) {
				occ = append(occ, occurrence{id, i - 1})
				present[id] = true
			}
		}
	}
	return occ, present
}

// hasFold reports whether text begins with the lower-case word.
func hasFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := 2; i < len(word); i++ { // the first two are known to fit
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
