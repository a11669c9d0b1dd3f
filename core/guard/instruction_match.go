package guard

import (
	"math/bits"
	"strconv"
	"strings"
	"sync"
)

// A pattern is a list of elements, written with spaces between them:
//
//	^        first: an imperative, that is, at the start of a clause but for words such as "please" and "you must"
//	>        first: at the start of a clause
//	-        first: no negation before it in the sentence
//	a|b      one of these words, or with @ one of a class: @ignore|bypass
//	a|b?     may be missing
//	*class   up to 6 words of the class before the next element
//	..N      up to N words before the next element, none of them a negation
//	!a|b     none of these follows
//	$        the clause ends, or goes on with a word that does not narrow it
//	$$       the clause ends
//	:        a colon, and behind it text on the same line
type pattern struct {
	rule     string
	start    byte // '^', '>' or 0
	positive bool
	elements []element
}

type element struct {
	op  byte // 'w' words, '?' optional words, '*' fill, '.' gap, '!', '$', 'e' ($$), ':'
	set *wordSet
	max int
}

// maxFill bounds what * skips, so that a match costs a constant.
const maxFill = 6

type patternTable struct {
	vocabulary
	sets             map[string]*wordSet
	byFirst          [maxWords][]*pattern
	lead, neg, goOn  *wordSet
	to, shell, fetch *wordSet
	hasFirst         wordSet
	index            *wordIndex
}

var instructionTable = sync.OnceValue(func() *patternTable {
	t := &patternTable{vocabulary: vocabulary{ids: map[string]uint16{}, han: map[rune][]hanWord{}}, sets: map[string]*wordSet{}}
	t.lead, t.neg, t.goOn = t.setOf("@lead"), t.setOf("@neg"), t.setOf("@goOn")
	t.to, t.shell, t.fetch = t.setOf("to"), t.setOf("@shell"), t.setOf("@get")
	for _, group := range instructionPatterns {
		for _, line := range group.patterns {
			for _, p := range expand(line) {
				t.addPattern(group.rule, p)
			}
		}
	}
	t.index = indexOf(t.vocabulary)
	return t
})

// expand replaces each {name} by every alternative that it has.
func expand(line string) []string {
	open := strings.IndexByte(line, '{')
	if open < 0 {
		return []string{line}
	}
	end := strings.IndexByte(line, '}')
	var out []string
	for _, alt := range instructionMacros[line[open+1:end]] {
		out = append(out, expand(line[:open]+alt+line[end+1:])...)
	}
	return out
}

func (t *patternTable) addPattern(rule, line string) {
	p := &pattern{rule: rule}
	for _, f := range strings.Fields(line) {
		switch {
		case f == "^" || f == ">":
			p.start = f[0]
		case f == "-":
			p.positive = true
		case f == "$":
			p.elements = append(p.elements, element{op: '$'})
		case f == "$$":
			p.elements = append(p.elements, element{op: 'e'})
		case f == ":":
			p.elements = append(p.elements, element{op: ':'})
		case strings.HasPrefix(f, ".."):
			n, _ := strconv.Atoi(f[2:])
			p.elements = append(p.elements, element{op: '.', max: n})
		case f[0] == '*':
			p.elements = append(p.elements, element{op: '*', max: maxFill, set: t.setOf("@" + f[1:])})
		case f[0] == '!':
			p.elements = append(p.elements, element{op: '!', set: t.setOf(f[1:])})
		case strings.HasSuffix(f, "?"):
			p.elements = append(p.elements, element{op: '?', set: t.setOf(f[:len(f)-1])})
		default:
			p.elements = append(p.elements, element{op: 'w', set: t.setOf(f)})
		}
	}
	for i, word := range p.elements[0].set {
		for ; word != 0; word &= word - 1 {
			id := i*64 + bits.TrailingZeros64(word)
			t.byFirst[id] = append(t.byFirst[id], p)
			t.hasFirst.put(uint16(id))
		}
	}
}

// token is one word of a sentence.
type token struct {
	start, end int32 // texts are far below 2 GB
	word       uint16
	stop       stop // what stands before it
	newLine    bool // it is the first of its line
	colon      bool // a colon stands before it on its line
}

// stop is how much a sign parts two words.
type stop uint8

const (
	stopNone   stop = iota
	stopSoft        // comma, dash, bracket; a line that ends where the next one begins with a capital
	stopClause      // colon, semicolon, cell of a table
)

// match looks for patterns that start at the tokens before limit.
func (s *sentences) match(limit int) {
	t := s.table
	for i := 0; i < limit; i++ {
		if !t.hasFirst.has(s.toks[i].word) {
			continue
		}
		strict, from := s.startOf(i)
		for _, p := range t.byFirst[s.toks[i].word] {
			start := i
			switch {
			case p.start == '^' && from < 0, p.start == '>' && !strict, p.positive && s.negated(i):
				continue
			case p.start != 0:
				start = from
			}
			if end, ok := s.matchAt(p, i); ok {
				s.add(p.rule, int(s.toks[start].start), int(s.toks[end].end))
				i = end
				break
			}
		}
	}
}

// matchAt matches the elements of p from token i on and gives the last token. Every element takes the first word that
// it can, so nothing is tried twice.
func (s *sentences) matchAt(p *pattern, i int) (end int, ok bool) {
	at := i + 1
	for k := 1; k < len(p.elements); k++ {
		e := &p.elements[k]
		switch e.op {
		case 'w':
			if !s.joins(at) || !e.set.has(s.toks[at].word) {
				return 0, false
			}
			at++
		case '?':
			if s.joins(at) && e.set.has(s.toks[at].word) {
				at++
			}
		case '*', '.':
			if at, ok = s.skipTo(p.elements[k+1], e, at); !ok {
				return 0, false
			}
		case '!':
			if s.joins(at) && e.set.has(s.toks[at].word) {
				return 0, false
			}
		case '$', 'e':
			if at < len(s.toks) && s.toks[at].stop == stopNone && (e.op == 'e' || !s.table.goOn.has(s.toks[at].word)) {
				return 0, false
			}
		case ':':
			if at >= len(s.toks) || !s.toks[at].colon || s.toks[at].word == wordOpaque {
				return 0, false
			}
		}
	}
	return at - 1, true
}

// skipTo gives the first token from at on that the next element takes, if e can skip what stands before it.
func (s *sentences) skipTo(next element, e *element, at int) (int, bool) {
	for range e.max + 1 {
		switch {
		case next.op == ':' && at < len(s.toks) && s.toks[at].colon, s.joins(at) && next.set != nil && next.set.has(s.toks[at].word):
			return at, true
		case !s.joins(at), e.op == '*' && !e.set.has(s.toks[at].word), e.op == '.' && s.table.neg.has(s.toks[at].word):
			return 0, false
		}
		at++
	}
	return 0, false
}

// joins reports whether token at belongs to the clause of the one before it. An address may stand behind a colon.
func (s *sentences) joins(at int) bool {
	return at < len(s.toks) && (s.toks[at].stop <= stopSoft || s.toks[at].word == wordDest)
}

// maxLead is how many words may lead up to an imperative: "it is very important that you must now …".
const maxLead = 8

// startOf reports whether a clause starts at token i, and gives the token at which one starts whose verb may be i, or -1.
func (s *sentences) startOf(i int) (strict bool, from int) {
	for k := i; ; k-- {
		if k == 0 || s.toks[k].stop > stopNone || s.toks[k].newLine {
			// "To do this, …" is a purpose; "Never do this: …" and "Do not, in any case, …" are no commands to do it.
			if k < i && s.table.to.has(s.toks[k].word) || k > 0 && s.negated(k) {
				return false, -1
			}
			return k == i, k
		}
		if i-k == maxLead || !s.table.lead.has(s.toks[k-1].word) {
			return false, -1
		}
	}
}

// negated reports whether a word before token i negates what follows.
func (s *sentences) negated(i int) bool {
	for _, t := range s.toks[max(0, i-64):i] {
		if s.table.neg.has(t.word) {
			return true
		}
	}
	return false
}
