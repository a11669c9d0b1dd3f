package guard

import (
	"strings"
	"unicode/utf8"
)

// vocabulary numbers the words that patterns know. 0 is every other word.
type vocabulary struct {
	ids map[string]uint16
	han map[rune][]hanWord // by first character, longest first

	hanFirst [1 << 16 / 64]uint64 // bit set: some word begins with this character
}

type hanWord struct {
	rest []rune // behind the first character
	id   uint16
}

// Words that are no words: the scanner gives these numbers by what it sees.
const (
	wordOther   uint16 = iota
	wordDest           // an address: URL, email, IP
	wordSecret         // a file that holds secrets
	wordIdent          // a name as code has it
	wordOpaque         // code or a quotation
	firstWordID        // of those in the vocabulary
)

var special = map[string]uint16{"DEST": wordDest, "SECRET": wordSecret, "IDENT": wordIdent}

// wordSet is a set of words by number.
type wordSet [maxWords / 64]uint64

// maxWords is how many words there may be; the table of patterns cannot be made with more.
const maxWords = 768

func (s *wordSet) has(id uint16) bool { return s[id/64]&(1<<(id%64)) != 0 }
func (s *wordSet) put(id uint16)      { s[id/64] |= 1 << (id % 64) }

// setOf gives the set of an element's words and classes.
func (t *patternTable) setOf(names string) *wordSet {
	if s := t.sets[names]; s != nil {
		return s
	}
	s := &wordSet{}
	t.sets[names] = s
	for _, n := range strings.Split(names, "|") {
		if class, ok := strings.CutPrefix(n, "@"); ok {
			for _, w := range strings.Fields(instructionWords[class]) {
				s.put(t.id(w))
			}
			continue
		}
		s.put(t.id(n))
	}
	return s
}

func (t *patternTable) id(word string) uint16 {
	if id, ok := special[word]; ok {
		return id
	}
	if id, ok := t.ids[word]; ok {
		return id
	}
	id := uint16(len(t.ids)) + firstWordID
	t.ids[word] = id
	if first, size := utf8.DecodeRuneInString(word); size > 1 {
		if first < 1<<16 {
			t.hanFirst[first/64] |= 1 << (first % 64)
		}
		list := append(t.han[first], hanWord{[]rune(word[size:]), id})
		for i := len(list) - 1; i > 0 && len(list[i].rest) > len(list[i-1].rest); i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
		t.han[first] = list
	}
	return id
}

// wordIndex finds the words of Latin letters in a vocabulary: most words of a text are looked up, and a map takes three
// times as long.
type wordIndex struct {
	slots [indexSlots]uint16 // 1 + position in words
	words []string
	ids   []uint16
}

// indexSlots is several times the number of words, so that nearly every lookup ends at the first slot.
const indexSlots = 4096

func indexOf(v vocabulary) *wordIndex {
	x := &wordIndex{}
	for word, id := range v.ids {
		if len(word) > maxWord || word[0] >= utf8.RuneSelf {
			continue
		}
		x.words, x.ids = append(x.words, word), append(x.ids, id)
		head := uint64(0)
		for i := range min(len(word), 8) {
			head |= uint64(word[i]) << (8 * i)
		}
		at := slotOf(head, len(word))
		for x.slots[at] != 0 {
			at = (at + 1) % indexSlots
		}
		x.slots[at] = uint16(len(x.words))
	}
	return x
}

// slotOf gives where the search for a word begins: what its first eight letters and its length hash to.
func slotOf(head uint64, n int) uint64 { return (head + uint64(n)) * 0x9E3779B97F4A7C15 >> 52 }

// find gives the number of a word whose first eight letters are head.
func (x *wordIndex) find(head uint64, word []byte) uint16 {
	for at := slotOf(head, len(word)); x.slots[at] != 0; at = (at + 1) % indexSlots {
		if i := x.slots[at] - 1; x.words[i] == string(word) {
			return x.ids[i]
		}
	}
	return wordOther
}
