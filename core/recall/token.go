package recall

import "iter"

// TokenizerVersion names the rules by which text becomes terms. An index on
// disk stores it and is rebuilt where it differs; every change of what
// [Tokenizer.Tokens] yields must raise it.
const TokenizerVersion = 1

// Kind says what part of the source a token stands for.
type Kind uint8

const (
	Word      Kind = iota // letters or digits that stand alone
	Part                  // one part of an identifier, a path or a number
	Whole                 // an identifier, a path or a part of one, joiners removed
	Ideograph             // one Chinese, Japanese or Korean character
	Bigram                // two neighbouring ones
)

// Token is one term of a text with the place it came from. Tokens may overlap:
// an identifier yields itself and its parts.
type Token struct {
	Term       string // what is indexed and searched: the stem of Surface
	Surface    string // the text as folded: NFKC, lower case, no diacritics
	Start, End int    // byte span in the source, on rune boundaries
	Kind       Kind
}

// A Tokenizer turns text into terms. The zero value is ready. It keeps buffers
// and the stems of words it has seen (a bounded number), so reuse one; it must
// not be used by two goroutines at once, nor from inside a loop over its own
// tokens.
type Tokenizer struct {
	scan  scanner
	stems map[string]stemmed
}

type stemmed struct {
	surface, term string
	stop          bool
}

// Tokens yields the terms of text in order of their place, an identifier before
// its parts. Stop words are left out. It takes time linear in the length of the
// text, and any bytes: what is not UTF-8 separates words.
func (t *Tokenizer) Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		done := false
		emit := func(surface []byte, start, end int, kind Kind) {
			if done {
				return
			}
			s := t.stem(surface)
			if !s.stop {
				done = !yield(Token{s.term, s.surface, start, end, kind})
			}
		}
		for i := 0; i < len(text) && !done; {
			i = t.scan.step(text, i, emit)
		}
	}
}

func (t *Tokenizer) stem(surface []byte) stemmed {
	if s, ok := t.stems[string(surface)]; ok {
		return s
	}
	if t.stems == nil || len(t.stems) >= maxStems {
		t.stems = make(map[string]stemmed)
	}
	word := string(surface)
	s := stemmed{word, stemOf(word), isStopWord(word)}
	t.stems[word] = s
	return s
}
