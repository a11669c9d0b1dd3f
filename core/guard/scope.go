package guard

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rule's expression costs 0.02 to 0.25 ms per KB, the one for generic keys the most, and its keywords ("key",
// "token", "ey") occur in all prose. So most rules run on windows around their keywords only. The windows are such
// that a match is found in them exactly if it is found in the whole text; the tests check every rule against samples
// of its own expression and against the reference.
type scope struct {
	kind  scopeKind
	reach int // bytes to either side of a keyword
}

type scopeKind int

const (
	// wholeText: nothing is known about where the keyword is in a match.
	wholeText scopeKind = iota
	// oneToken: a match contains the keyword and no white space but at its ends.
	oneToken
	// assignment: a name that contains the keyword, an operator, a value without white space (genericRule).
	assignment
	// oneLine: a match contains no line end but at its ends; the keyword may be anywhere. The windows are the lines.
	oneLine
	// bounded: a match contains the keyword and is at most reach bytes long.
	bounded
)

// keywordOutside names the rules whose keyword need not be part of what they match. TestKeywordInsideMatch derives
// the list from the expressions.
var keywordOutside = map[string]bool{
	"airtable-personnal-access-token": true,
	"facebook-access-token":           true,
	"sidekiq-sensitive-url":           true,
	"slack-config-access-token":       true,
	"slack-webhook-url":               true,
	"sourcegraph-access-token":        true,
}

// genericRule is the rule for any value that is given to a name such as "api_key". It is the dearest of all, and its
// keywords are in every other sentence; its windows start from an operator behind the keyword.
const genericRule = "generic-api-key"

const (
	// nameReach is at least how far a match of genericRule begins before its keyword: 50 characters, all of one byte
	// but for two that fold to ASCII letters.
	nameReach = 64
	// operatorReach is at least how far the operator is behind the keyword: 20 characters of up to 3 bytes and 3 white
	// spaces or quotes.
	operatorReach = 72
	// valueReach is at least how far the value begins behind the first character of the operator, which has up to 4
	// and is followed by up to 5 quotes or white spaces.
	valueReach = 12
	// boundedMax is the longest match that is worth a window.
	boundedMax = 2048
)

func scopeOf(id, pattern string, tree *syntax.Regexp) scope {
	if keywordOutside[id] {
		if isOne(tree, "\n") {
			return scope{kind: oneLine}
		}
		return scope{kind: wholeText}
	}
	if isOneToken(tree) {
		return scope{kind: oneToken}
	}
	if id == genericRule {
		return scope{kind: assignment}
	}
	if n := maxLen(tree); n >= 0 && n <= boundedMax {
		return scope{kind: bounded, reach: n + 1}
	}
	return scope{kind: wholeText}
}

// windows returns the parts of text in which the rule can match, ordered and without overlap.
func (s scope) windows(text string, occ []occurrence, words []string, of []int) []span {
	switch s.kind {
	case wholeText:
		return []span{{0, len(text)}}
	case oneLine:
		return lineWindows(text)
	}
	var out []span
	end := 0 // of the last window; what lies before is not walked again, or one long token would cost its square
	for _, o := range occ {
		if !slices.Contains(of, o.word) {
			continue
		}
		w := span{o.at, o.at + len(words[o.word])}
		switch s.kind {
		case oneToken:
			if w.end < end {
				continue
			}
			w.start, w.end = tokenStart(text, w.start)-1, tokenEnd(text, w.end)+1
		case assignment:
			op := operatorAfter(text, w.end)
			if op < 0 || !valueWithin(text, op+1) {
				continue
			}
			w.start, w.end = w.start-nameReach, op+valueReach
			if w.end >= end {
				w.end = tokenEnd(text, w.end) + 1
			}
		case bounded:
			w.start, w.end = w.start-s.reach, w.end+s.reach
		}
		w.start, w.end = runeStart(text, max(0, w.start)), runeStart(text, min(len(text), w.end))
		if n := len(out); n > 0 && w.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, w.end)
		} else {
			out = append(out, w)
		}
		end = out[len(out)-1].end
	}
	return out
}

// minLine is the length of the shortest match of a oneLine rule, or less.
const minLine = 16

// lineWindows returns each line with the line ends around it, which may delimit a match.
func lineWindows(text string) []span {
	var out []span
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if end-at >= minLine {
			out = append(out, span{max(0, at-1), end})
		}
		at = end
	}
	return out
}

// operatorAfter returns the offset of the operator that may follow a name which goes on at i, or -1.
func operatorAfter(text string, i int) int {
	for end := min(len(text), i+operatorReach); i < end; i++ {
		switch inName[text[i]] {
		case 'o':
			return i
		case 0:
			return -1
		}
	}
	return -1
}

// inName tells what may stand between a keyword and the value: 'o' for an operator, 'n' for what a name goes on with.
var inName = func() (kinds [256]byte) {
	for c := range kinds {
		b := byte(c)
		if isSpace(b) || strings.IndexByte("_.-'\"", b) >= 0 || '0' <= b && b <= '9' || 'a' <= lower(b) && lower(b) <= 'z' || b >= utf8.RuneSelf {
			kinds[c] = 'n'
		}
	}
	for _, c := range []byte("=>:|?,") {
		kinds[c] = 'o'
	}
	return kinds
}()

// minValue is the length of the shortest value of genericRule, in bytes.
const minValue = 10

// valueWithin reports whether something as long as a value begins within valueReach of i.
func valueWithin(text string, i int) bool {
	run := 0
	for end := min(len(text), i+valueReach+minValue); i < end; i++ {
		c := text[i]
		if isBase64(c) || c == '.' || c == '=' || c >= utf8.RuneSelf {
			if run++; run == minValue {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

// tokenStart and tokenEnd return the ends of the run without ASCII white space around i.
func tokenStart(text string, i int) int {
	for i > 0 && !isSpace(text[i-1]) {
		i--
	}
	return i
}

func tokenEnd(text string, i int) int {
	i = min(i, len(text))
	for i < len(text) && !isSpace(text[i]) {
		i++
	}
	return i
}

// isSpace is what \s means in an expression.
func isSpace(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' && b != '\v' }

// runeStart moves i back to the beginning of a character.
func runeStart[T string | []byte](text T, i int) int {
	for n := 0; n < utf8.UTFMax && i > 0 && i < len(text) && !utf8.RuneStart(text[i]); n++ {
		i--
	}
	return i
}

// isOneToken reports whether a match has no white space but, perhaps, in a first or last part of at most two bytes:
// the delimiters that rules have around a token.
func isOneToken(tree *syntax.Regexp) bool { return isOne(tree, "\t\n\f\r ") }

// isOne reports whether a match has none of these characters but in such a part.
func isOne(tree *syntax.Regexp, apart string) bool {
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
		if n := maxLen(parts[0]); n >= 0 && n <= 2 {
			parts = parts[1:]
		}
		if len(parts) > 0 {
			if n := maxLen(parts[len(parts)-1]); n >= 0 && n <= 2 {
				parts = parts[:len(parts)-1]
			}
		}
	}
	for _, p := range parts {
		if matchesAny(p, apart) {
			return false
		}
	}
	return true
}

// matchesAny reports whether an expression can match one of these characters, which are ASCII.
func matchesAny(re *syntax.Regexp, chars string) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpAnyCharNotNL:
		return strings.Trim(chars, "\n") != ""
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if strings.ContainsRune(chars, r) {
				return true
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for _, c := range chars {
				if re.Rune[i] <= c && c <= re.Rune[i+1] {
					return true
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if matchesAny(sub, chars) {
			return true
		}
	}
	return false
}

// maxLen returns how many bytes a match can have at most, or -1 if there is no limit.
func maxLen(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		n := 0
		for _, r := range re.Rune {
			size := utf8.RuneLen(r)
			if re.Flags&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					size = max(size, utf8.RuneLen(f)) // the Kelvin sign is a k of three bytes
				}
			}
			n += max(1, size)
		}
		return n
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return 0
		}
		return max(1, utf8.RuneLen(re.Rune[len(re.Rune)-1]))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		return -1
	case syntax.OpRepeat:
		n := maxLen(re.Sub[0])
		if n < 0 || re.Max < 0 {
			return -1
		}
		return n * re.Max
	case syntax.OpQuest, syntax.OpCapture, syntax.OpConcat, syntax.OpAlternate:
		total := 0
		for _, sub := range re.Sub {
			n := maxLen(sub)
			if n < 0 {
				return -1
			}
			if re.Op == syntax.OpAlternate {
				total = max(total, n)
			} else {
				total += n
			}
		}
		return total
	}
	return 0 // assertions
}
