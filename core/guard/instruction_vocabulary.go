package guard

import (
	"strings"
	"unicode/utf8"
)

// vocabulary numbers the words that patterns know. 0 is every other word.
type vocabulary struct {
	ids map[string]uint16
	han map[rune][]hanWord // by first character, longest first
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
		list := append(t.han[first], hanWord{[]rune(word[size:]), id})
		for i := len(list) - 1; i > 0 && len(list[i].rest) > len(list[i-1].rest); i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
		t.han[first] = list
	}
	return id
}
