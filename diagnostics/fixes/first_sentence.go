package fixes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/memfile"
)

// sentenceLength is how many characters a description made from a sentence has at
// most: that of an entry of the index, which shows it.
const sentenceLength = 150

// sentenceWithin is how much of a body is looked through, in bytes: what stands
// below says no more what the whole is about.
const sentenceWithin = 64 << 10

// FirstSentence gives the first sentence of a body as plain text on one line,
// without headings, code, tables, comments and the marks of lists and links, cut at
// a word to 150 characters. It gives "" for a body that has none.
func FirstSentence(body string) string {
	said := ""
	p := paragraphs{rest: startOf(body, sentenceWithin)}
	for len(said) < paragraphBytes {
		more, ok := p.next()
		if !ok {
			break
		}
		said = memfile.OneLine(said + " " + more)
		// What ends with a colon says what comes, and is nothing alone.
		if !strings.HasSuffix(said, ":") && !strings.HasSuffix(said, "：") {
			break
		}
	}
	if said = cutSentence(said); !utf8.ValidString(said) || !strings.ContainsFunc(said, wordRune) {
		return ""
	}
	said = strings.TrimRight(memfile.OneLine(strings.Map(visible, said)), ":： ")
	return shorten(said, sentenceLength)
}

// visible leaves out what does not show, but for the joiners that emoji and some
// scripts need: a description is not the place to hide text.
func visible(r rune) rune {
	switch {
	case r == '\u200c' || r == '\u200d':
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r) && r != '\n' && r != '\t':
		return -1
	}
	return r
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// paragraphs reads the paragraphs of a body one by one; an item of a list is one.
// It reads lines, so that a long body costs only its start.
type paragraphs struct {
	rest  string
	fence string // that is open
	gap   bool   // a blank line came last, so that an indent means code
	list  bool   // an item was seen, so that it does not
}

// paragraphBytes bounds a paragraph, in bytes: its first sentence stands before.
const paragraphBytes = 8 << 10

var (
	listMark  = compiled(`^(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?`)
	ruleOrRow = compiled(`^(?:(?:[-=*_+][ \t]*){3,}|=+|-+|\|.*)$`)
)

func (p *paragraphs) next() (string, bool) {
	var said []string
	size := 0
	for p.rest != "" && size < paragraphBytes {
		l, after, _ := strings.Cut(p.rest, "\n")
		l = startOf(l, paragraphBytes)
		trimmed := strings.Trim(l, " \t\r")
		indented := strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "\t")
		quoted := strings.TrimLeft(trimmed, "> ")
		mark := listMark().FindString(quoted)
		switch {
		case p.fence != "":
			if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]) == "" {
				p.fence = ""
			}
		case trimmed == "", ruleOrRow().MatchString(quoted), strings.HasPrefix(quoted, "#") && headingMark(quoted):
			if len(said) > 0 && size > 0 {
				if underline(trimmed) { // what was read was a heading
					said, size = nil, 0
					break
				}
				return joinLines(said), true
			}
			p.gap = trimmed == ""
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			if size > 0 {
				return joinLines(said), true
			}
			p.fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		case indented && p.gap && !p.list && size == 0:
			// code
		case strings.HasPrefix(trimmed, "<!--"):
			if size > 0 {
				return joinLines(said), true
			}
			_, behind, closed := strings.Cut(p.rest, "-->")
			if !closed {
				return "", false
			}
			p.rest = behind
			continue
		case strings.HasPrefix(trimmed, "<") && size == 0:
			// a tag
		default:
			if mark != "" {
				if size > 0 {
					return joinLines(said), true
				}
				p.list, quoted = true, quoted[len(mark):]
			}
			p.gap = false
			if words := plainText(quoted); words != "" {
				said = append(said, words)
				size += len(words)
			}
		}
		p.rest = after
	}
	return joinLines(said), size > 0
}

// joinLines makes one line of several: with spaces, but for Chinese and Japanese
// text, which has none between its characters.
func joinLines(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			last, _ := utf8.DecodeLastRuneInString(lines[i-1])
			first, _ := utf8.DecodeRuneInString(l)
			if !wide(last) || !wide(first) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(l)
	}
	return b.String()
}

func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef
}

func headingMark(l string) bool {
	l = strings.TrimLeft(l, "#")
	return l == "" || l[0] == ' ' || l[0] == '\t'
}

// underline reports whether a line below text makes a heading of it.
func underline(l string) bool {
	return l != "" && (strings.Trim(l, "=") == "" || strings.Trim(l, "-") == "")
}

var (
	imageMark     = compiled(`!\[[^\]]*\]\([^)]*\)`)
	linkMarks     = compiled(`\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\((?:<[^>]*>|[^()]|\([^()]*\))*\)`)
	emptyLink     = compiled(`\[\s*\]\([^)]*\)`)
	namedWikiMark = compiled(`\[\[[^\[\]|]*\|([^\[\]]*)\]\]`)
	wikiMark      = compiled(`\[\[([^\[\]]*)\]\]`)
	autolinkMark  = compiled(`<((?:https?|mailto):[^<> ]*)>`)
	emphasisMark  = compiled(`(^|[^\pL\pN_*])([*_])([^\s*_](?:[^*_]*[^\s*_])?)([*_])($|[^\pL\pN_*])`)
	inlineComment = compiled(`<!--.*?-->`)
)

// plainText gives the words of a line without the marks of links and emphasis. Code
// keeps its ticks: they say that it is meant to the letter.
func plainText(l string) string {
	l = inlineComment().ReplaceAllString(l, "")
	l = imageMark().ReplaceAllString(l, "")
	l = linkMarks().ReplaceAllString(emptyLink().ReplaceAllString(l, ""), "$1")
	l = namedWikiMark().ReplaceAllString(l, "$1")
	l = wikiMark().ReplaceAllString(l, "$1")
	l = autolinkMark().ReplaceAllString(l, "$1")
	if !strings.Contains(l, "`") {
		l = strings.NewReplacer("**", "", "__", "", "~~", "").Replace(l)
		l = emphasisMark().ReplaceAllString(l, "$1$3$5")
	} else {
		l = strings.ReplaceAll(l, "**", "")
	}
	return memfile.OneLine(l)
}

// abbreviations are words whose dot ends no sentence.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "vs": true, "cf": true, "dr": true, "mr": true, "mrs": true, "ms": true, "prof": true, "st": true,
	"no": true, "nr": true, "approx": true, "ca": true, "incl": true, "excl": true, "fig": true, "sec": true, "ch": true, "vol": true,
	"resp": true, "esp": true, "inc": true, "ltd": true, "co": true, "jr": true, "sr": true, "dept": true, "est": true, "min": true, "max": true,
}

// cutSentence gives the first sentence of a line. A final dot goes, as descriptions
// have none; other marks stay, since they say something.
func cutSentence(s string) string {
	code := false
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
		switch r {
		case '`':
			code = !code
		case '。', '！', '？', '．':
			if code {
				continue
			}
			return strings.TrimRight(closers(s, end), "。．")
		case '.', '!', '?':
			if code || r == '.' && !endsSentence(s[:i], s[end:]) {
				continue
			}
			whole := closers(s, end)
			if rest := s[len(whole):]; rest != "" && rest[0] != ' ' {
				continue
			}
			if r == '.' && !strings.HasSuffix(whole, "..") && strings.HasSuffix(whole, ".") && !abbreviated(s[:i]) {
				return whole[:len(whole)-1]
			}
			return whole
		}
	}
	return s
}

// closers gives s up to the end of a sentence with the quotes and brackets that
// close behind it.
func closers(s string, end int) string {
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !strings.ContainsRune(`"')]”’」』）》!?！？`, r) {
			break
		}
		end += n
	}
	return s[:end]
}

// abbreviated reports whether the last word before a dot is one that has a dot, an
// initial, or dotted itself, as in U.S.
func abbreviated(before string) bool {
	before = strings.TrimRight(before, ".")
	word := before[strings.LastIndexAny(before, " (\"'/")+1:]
	return abbreviations[strings.ToLower(word)] || len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' ||
		len(word) > 2 && word[len(word)-2] == '.'
}

// endsSentence reports whether a dot between two texts ends the first one.
func endsSentence(before, after string) bool {
	after = strings.TrimLeft(after, `"')]”’`)
	if after == "" {
		return true
	}
	if after[0] != ' ' || abbreviated(before) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \"'(`[“‘"))
	return !unicode.IsLower(next)
}

// shorten cuts s to n characters with a mark of omission: at a space in its second
// half, else at a Chinese comma there, else between two characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	at, count := 0, 0
	for i, r := range s {
		// A mark or a joiner belongs to the character before it.
		if !unicode.IsMark(r) && r != '\u200d' && !strings.HasSuffix(s[:i], "\u200d") {
			at = i
		}
		if count == n-1 {
			break
		}
		count++
	}
	if i := strings.LastIndexByte(s[:at+1], ' '); i > at/2 {
		at = i
	} else if i := strings.LastIndexAny(s[:at], "，、；："); i > at/2 {
		at = i
	}
	return strings.TrimRightFunc(s[:at], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:-–—，；：、(（", r) }) + "…"
}
