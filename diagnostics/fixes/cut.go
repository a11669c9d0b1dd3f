package fixes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/memfile"
	"mem/core/text"
)

// cutSummary shortens a text on one line to at most room characters: at the end of
// a sentence where that leaves enough, else of a clause, else at a word, which is
// marked by "…". It never cuts in a word, a link, code or emphasis, and keeps at
// least the first keep bytes. rest is what has to be said elsewhere: it starts
// where the sentence starts that was cut. Where nothing fits, short is empty and
// rest all of it.
func cutSummary(s string, room, keep int) (short, rest string) {
	if utf8.RuneCountInString(s) <= room {
		return s, ""
	}
	c := cutter{s: s, room: room, keep: keep}
	c.hard, c.soft = wholes(s)
	c.look()
	for _, least := range []int{min(room/3, enough), 1} {
		for kind, best := range c.best {
			if best.end > 0 && best.runes >= least {
				return c.at(best, cutKind(kind))
			}
		}
	}
	if keep > 0 && utf8.RuneCountInString(s[:keep]) <= room {
		return c.at(cutPlace{end: keep, from: keep}, atKept)
	}
	return "", s
}

// enough is how many characters say something: a shorter sentence is passed over for
// a clause that goes on.
const enough = 16

type cutKind int

// The kinds of places to cut at, the best first.
const (
	atSentence cutKind = iota
	atClause
	atComma
	atWord
	cutKinds
	atKept // behind what has to be kept
)

type cutPlace struct {
	end   int // of the short text
	from  int // where the rest starts, if a sentence ends here; else where its sentence starts
	runes int // of the short text, "…" included
}

type cutter struct {
	s          string
	room, keep int
	hard, soft []bool // whether a cut before this byte would lie inside something
	best       [cutKinds]cutPlace
	sentence   int // where the sentence starts that is being read
}

func (c *cutter) at(p cutPlace, kind cutKind) (short, rest string) {
	short = strings.TrimRight(c.s[:p.end], " ")
	if kind == atWord {
		short = strings.TrimRight(short, " ,;:，、；：") + "…"
	}
	return short, strings.TrimSpace(c.s[p.from:])
}

// look finds the last place of each kind that fits.
func (c *cutter) look() {
	runes, prev := 0, rune(0)
	for i, r := range c.s {
		next := i + utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(c.s[i:], string(r)) {
			next = i + 1 // a byte that is no UTF-8
		}
		if runes > c.room {
			return
		}
		switch rest := c.s[next:]; {
		case r == '。' || r == '！' || r == '？' || strings.ContainsRune(".!?", r) && strings.HasPrefix(rest, " ") && c.endsSentence(i, next):
			end, n := next, runes+1
			for _, q := range rest { // a quotation ends behind its full stop
				if !strings.ContainsRune("”’」』）", q) {
					break
				}
				end, n = end+utf8.RuneLen(q), n+1
			}
			if !c.hard[end] && !c.soft[end] {
				c.offer(atSentence, cutPlace{end, end, n})
				c.sentence = end
			}
		case r == '；' || r == ';' && strings.HasPrefix(rest, " ") || r == ' ' && startsDash(rest):
			c.clause(atClause, i, runes)
		case r == '，' || r == '、' || r == ',' && strings.HasPrefix(rest, " "):
			c.clause(atComma, i, runes)
		}
		if (r == ' ' || i > 0 && (ideograph(r) && !unicode.IsSpace(prev) || ideograph(prev) && unicode.IsLetter(r))) && !c.hard[i] {
			c.offer(atWord, cutPlace{i, c.sentence, runes + 1})
		}
		prev = r
		runes++
	}
}

func (c *cutter) clause(kind cutKind, at, runes int) {
	if !c.hard[at] && !c.soft[at] {
		c.offer(kind, cutPlace{at, c.sentence, runes})
	}
}

func (c *cutter) offer(kind cutKind, p cutPlace) {
	if p.runes <= c.room && p.end >= c.keep && strings.TrimSpace(c.s[:p.end]) != "" {
		c.best[kind] = p
	}
}

// endsSentence reports whether the mark at i, behind which a space stands, ends a
// sentence: what follows does not start in lower case, and what it follows is no
// abbreviation, initial or number of a list.
func (c *cutter) endsSentence(i, next int) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(c.s[next:], " "))
	if unicode.IsLower(r) {
		return false
	}
	if c.s[i] != '.' {
		return true
	}
	word := c.s[strings.LastIndexByte(c.s[:i], ' ')+1 : i]
	numbers := len(word) < 3 && strings.Trim(word, "0123456789") == ""
	return !numbers && !abbreviated(c.s[:i])
}

// startsDash reports whether a dash with a space behind it starts s.
func startsDash(s string) bool {
	for _, dash := range []string{"— ", "– ", "-- ", "- "} {
		if strings.HasPrefix(s, dash) {
			return true
		}
	}
	return false
}

// ideograph reports whether a character is of a script that puts no spaces
// between words, so that a line may break before and behind it.
func ideograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// wholes tells for each byte of a line, and its end, whether a cut before it would
// lie inside a link, code or emphasis (hard), or inside brackets or quotes (soft).
func wholes(s string) (hard, soft []bool) {
	t := text.New(s)
	all := text.Span{End: len(s)}
	o := memfile.OutlineOf(t, all)
	spans := append(slices.Clone(o.Code), o.Hidden...)
	spans = append(spans, o.Comments...)
	links := memfile.Links(t, all, o)
	for _, l := range links {
		spans = append(spans, l.Span)
	}
	closed := inside(len(s), spans)
	marks := markPairs(s, closed)
	return inside(len(s), append(spans, marks...)), inside(len(s), bracketPairs(s, closed))
}

// inside marks the offsets that lie inside one of the spans, which may nest.
func inside(n int, spans []text.Span) []bool {
	depth := make([]int, n+2)
	for _, s := range spans {
		if s.Len() > 1 {
			depth[s.Start+1]++
			depth[s.End]--
		}
	}
	out := make([]bool, n+1)
	d := 0
	for i := range out {
		d += depth[i]
		out[i] = d > 0
	}
	return out
}

// pairs finds what opens and closes. Of several open ones with the same mark the
// last is closed; what was opened within it is text.
type pairs struct {
	open  []text.Span // of the opening marks
	mark  []string
	count map[string]int
	found []text.Span
}

func (p *pairs) push(mark string, at text.Span) {
	p.open, p.mark = append(p.open, at), append(p.mark, mark)
	if p.count == nil {
		p.count = map[string]int{}
	}
	p.count[mark]++
}

func (p *pairs) close(mark string, end int) bool {
	if p.count[mark] == 0 {
		return false
	}
	for {
		n := len(p.open) - 1
		at, m := p.open[n], p.mark[n]
		p.open, p.mark = p.open[:n], p.mark[:n]
		p.count[m]--
		if m == mark {
			p.found = append(p.found, text.Span{Start: at.Start, End: end})
			return true
		}
	}
}

// markPairs finds emphasis, strong and struck text.
func markPairs(s string, skip []bool) []text.Span {
	var p pairs
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case skip[i]:
		case c == '\\':
			i++
		case c == '*' || c == '_' || c == '~':
			n := 1
			for i+n < len(s) && s[i+n] == c {
				n++
			}
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			after, _ := utf8.DecodeRuneInString(s[i+n:])
			opens := i+n < len(s) && !unicode.IsSpace(after)
			closes := i > 0 && !unicode.IsSpace(before)
			if c == '_' && i > 0 && i+n < len(s) && wordRune(before) && wordRune(after) {
				opens, closes = false, false
			}
			mark := s[i : i+n]
			if !(closes && p.close(mark, i+n)) && opens && (c != '~' || n == 2) {
				p.push(mark, text.Span{Start: i, End: i + n})
			}
			i += n - 1
		}
	}
	return p.found
}

var brackets = map[rune]rune{'(': ')', '[': ']', '{': '}', '（': '）', '【': '】', '《': '》', '「': '」', '『': '』', '“': '”'}

// bracketPairs finds what stands in brackets and quotation marks.
func bracketPairs(s string, skip []bool) []text.Span {
	closing := map[rune]rune{}
	for open, end := range brackets {
		closing[end] = open
	}
	var p pairs
	for i, r := range s {
		switch _, opens := brackets[r]; {
		case skip[i]:
		case r == '"':
			if after, _ := utf8.DecodeRuneInString(s[i+1:]); !p.close(`"`, i+1) && i+1 < len(s) && !unicode.IsSpace(after) {
				p.push(`"`, text.Span{Start: i, End: i + 1})
			}
		case opens:
			p.push(string(r), text.Span{Start: i, End: i + utf8.RuneLen(r)})
		default:
			if open, ok := closing[r]; ok {
				p.close(string(open), i+utf8.RuneLen(r))
			}
		}
	}
	return p.found
}
