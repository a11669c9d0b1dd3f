package recall

import (
	"maps"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
)

// noStem marks a surface that is not indexed: a stop word.
const noStem = ^uint32(0)

// A dict numbers the surfaces and stems of an index, once for each. Generations
// of an index share what is in base and never write to it.
type dict struct {
	base, over         map[string]uint32 // surface → its number
	stemBase, stemOver map[string]uint32 // stem → its number
	surfaces           []surface
	stems              []stem
	owned              bool // stems is not shared with another generation
}

type surface struct {
	text    string
	stem    uint32 // noStem for a stop word
	letters uint8  // runes of a word of letters; 0 is never offered as a correction
	form    uint8  // its place among the forms of the stem
	sig     uint32 // see signature
}

type stem struct {
	text  string
	forms []uint32 // surfaces, in order of appearance
}

// fork returns a dict to which words can be added without touching d.
func (d *dict) fork() *dict {
	n := *d
	n.owned = false
	n.surfaces = slices.Clip(n.surfaces) // appending copies
	if len(d.over) > len(d.base)/8+1024 {
		// Amortised: the copy is paid for by the words that were added.
		n.base, n.stemBase = maps.Clone(d.base), maps.Clone(d.stemBase)
		maps.Copy(n.base, d.over)
		maps.Copy(n.stemBase, d.stemOver)
		n.over, n.stemOver = map[string]uint32{}, map[string]uint32{}
		return &n
	}
	n.over, n.stemOver = maps.Clone(d.over), maps.Clone(d.stemOver)
	return &n
}

func newDict() *dict {
	return &dict{
		owned: true,
		base:  map[string]uint32{}, over: map[string]uint32{},
		stemBase: map[string]uint32{}, stemOver: map[string]uint32{},
	}
}

// seal moves the words of a fresh build to where later generations share them.
func (d *dict) seal() {
	d.base, d.over = d.over, map[string]uint32{}
	d.stemBase, d.stemOver = d.stemOver, map[string]uint32{}
}

func (d *dict) surface(word []byte) (uint32, bool) {
	if id, ok := d.base[string(word)]; ok {
		return id, true
	}
	id, ok := d.over[string(word)]
	return id, ok
}

func (d *dict) stem(text string) (uint32, bool) {
	if id, ok := d.stemBase[text]; ok {
		return id, true
	}
	id, ok := d.stemOver[text]
	return id, ok
}

// add numbers a word that the dict lacks. Only a forked or new dict may.
func (d *dict) add(word string, kind Kind) uint32 {
	id := uint32(len(d.surfaces))
	d.over[word] = id
	if isStopWord(word) {
		d.surfaces = append(d.surfaces, surface{text: word, stem: noStem})
		return id
	}
	if !d.owned {
		d.stems, d.owned = slices.Clone(d.stems), true
	}
	text := stemOf(word)
	st, ok := d.stem(text)
	if ok && len(d.stems[st].forms) == maxForms {
		text, ok = word+"\x00", false // no word has so many forms; it becomes a stem of its own
	}
	if !ok {
		st = uint32(len(d.stems))
		d.stemOver[text] = st
		d.stems = append(d.stems, stem{text: text})
	}
	forms := d.stems[st].forms
	s := surface{text: word, stem: st, form: uint8(len(forms))}
	if kind != Ideograph && kind != Bigram {
		s.letters, s.sig = signature(word)
	}
	d.surfaces = append(d.surfaces, s)
	// Clipped: another generation may share the array behind forms.
	d.stems[st].forms = append(slices.Clip(forms), id)
	return id
}

// signature returns the number of letters of a word and a set of them in 32
// bits, by which most words are seen to be too far apart without comparing
// them. One edit changes at most two bits. It is 0 for what is never corrected:
// short words, and those with digits.
func signature(word string) (letters uint8, sig uint32) {
	n := utf8.RuneCountInString(word)
	if n < slipMin-1 || n > maxWordBytes {
		return 0, 0
	}
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return 0, 0
		}
		sig |= 1 << (uint32(r) % 32)
	}
	return uint8(n), sig
}

// farApart reports that two signatures rule out a distance of at most d.
func farApart(a, b uint32, d int) bool { return bits.OnesCount32(a^b) > 2*d }
