package memfile

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"mem/core/text"
)

// Link is a Markdown link or a [[name]] link with the bytes it is made of.
type Link struct {
	Span   text.Span // all of it
	Text   text.Span // what is shown
	Dest   text.Span // the destination as written, without angle brackets
	Target string    // the destination, decoded; for a wiki link the name
	Wiki   bool      // [[name]]

	path string
}

// Clone copies what the link says, which otherwise holds the text it stands in.
func (l Link) Clone() Link {
	l.Target, l.path = strings.Clone(l.Target), strings.Clone(l.path)
	return l
}

// Path gives the relative file path of the link without its anchor, cleaned, or
// "" when the link leads elsewhere: to a URL, an anchor or an absolute path.
func (l Link) Path() string { return l.path }

// Links gives the links in one part of a document, in order, without those in
// code and comments. Unlike CommonMark it accepts spaces and balanced
// parentheses in a destination and brackets in a text, since real indexes have
// them. Images are no links, unless they lead to a Markdown file. Its cost is
// linear.
func Links(t *text.Text, part text.Span, o Outline) []Link {
	s := linkScanner{src: t.String(), end: part.End, o: o}
	for i := part.Start; i < part.End; i++ {
		switch s.src[i] {
		case '\n':
			if startsBlock(s.src[i+1 : part.End]) {
				s.open = s.open[:0]
			}
		case '\\':
			if i+1 < part.End && punctuation(s.src[i+1]) {
				i++
			}
		case '[':
			if s.hidden(i) {
				continue
			}
			if l, ok := wikiLink(s.src, i, part.End); ok {
				s.links = append(s.links, l)
				i = l.Span.End - 1
				continue
			}
			s.open = append(s.open, i)
		case ']':
			if len(s.open) > 0 && !s.hidden(i) {
				i = s.closeBracket(i)
			}
		}
	}
	return s.links
}

type linkScanner struct {
	src   string
	end   int // of the part
	o     Outline
	links []Link
	open  []int // offsets of "[" not closed yet in this paragraph
	// What was looked up on the line that ends at lineEnd: where each "(" behind
	// a "]" is closed, and the next ">" and ")" from some offset on.
	lineEnd    int
	closing    map[int]int
	angle, par nextByte
}

func (s *linkScanner) hidden(i int) bool {
	return In(s.o.Code, i) || In(s.o.Comments, i) || In(s.o.Hidden, i)
}

// closeBracket takes the "]" at i with the last open "[" and gives the offset to
// go on behind.
func (s *linkScanner) closeBracket(i int) int {
	start := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if i+1 >= s.end || s.src[i+1] != '(' {
		return i
	}
	dest, end, ok := s.destination(i + 2)
	if !ok {
		return i
	}
	raw := s.src[dest.Start:dest.End]
	l := Link{
		Span:   text.Span{Start: start, End: end},
		Text:   text.Span{Start: start + 1, End: i},
		Dest:   dest,
		Target: decode(raw),
		path:   destPath(raw),
	}
	if start > 0 && s.src[start-1] == '!' && !IsMarkdown(l.path) {
		return end - 1 // an image; the text of a link may hold one
	}
	// A [[name]] in the text is part of the text.
	for n := len(s.links); n > 0 && s.links[n-1].Span.Start > start; n-- {
		s.links = s.links[:n-1]
	}
	s.links = append(s.links, l)
	s.open = s.open[:0]
	return end - 1
}

// startsBlock reports whether a line ends the paragraph above it, so that no link
// text goes on in it.
func startsBlock(rest string) bool {
	line, _, _ := strings.Cut(rest[:min(len(rest), 256)], "\n")
	l := strings.TrimLeft(line, " \t\r")
	if l == "" || strings.ContainsRune("#>|<", rune(l[0])) || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
		return true
	}
	_, list := listMark(l)
	return list
}

func punctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
}

// wikiLink reads "[[name]]" or "[[name|text]]" at i.
func wikiLink(src string, i, end int) (Link, bool) {
	if !strings.HasPrefix(src[i:end], "[[") {
		return Link{}, false
	}
	stop := i + 2
	end = min(end, i+maxDestination)
	for stop < end && src[stop] != ']' && src[stop] != '[' && src[stop] != '\n' {
		stop++
	}
	if stop+1 >= end || src[stop] != ']' || src[stop+1] != ']' {
		return Link{}, false
	}
	// "[[x]](y.md)" is a link whose text has brackets.
	if stop+2 < end && src[stop+2] == '(' {
		return Link{}, false
	}
	dest := text.Span{Start: i + 2, End: stop}
	if bar := strings.IndexByte(src[i+2:stop], '|'); bar >= 0 {
		dest.End = dest.Start + bar
	}
	dest = trimmed(src, dest)
	if dest.Len() == 0 {
		return Link{}, false
	}
	return Link{Span: text.Span{Start: i, End: stop + 2}, Text: text.Span{Start: i + 2, End: stop}, Dest: dest,
		Target: src[dest.Start:dest.End], Wiki: true}, true
}

// maxDestination bounds a destination, in bytes. Paths are shorter everywhere.
const maxDestination = 4096

// destination reads a link destination that starts at i, behind "(".
func (s *linkScanner) destination(i int) (dest text.Span, end int, ok bool) {
	if i > s.lineEnd || s.closing == nil {
		s.matchLine(i)
	}
	closing, closed := s.closing[i-1]
	if i < s.lineEnd && s.src[i] == '<' {
		stop := s.angle.from(s.src[:s.lineEnd], '>', i+1)
		if stop < 0 {
			return dest, 0, false
		}
		if !closed || closing < stop {
			closing = s.par.from(s.src[:s.lineEnd], ')', stop+1)
		}
		if closing < 0 || closing-i > maxDestination {
			return dest, 0, false
		}
		return text.Span{Start: i + 1, End: stop}, closing + 1, true
	}
	if !closed || closing-i > maxDestination {
		return dest, 0, false
	}
	return trimTitle(s.src, i, closing), closing + 1, true
}

// matchLine finds, from offset i to the end of its line, where each "(" behind a
// "]" is closed.
func (s *linkScanner) matchLine(i int) {
	s.lineEnd = s.end
	if n := strings.IndexByte(s.src[i:s.end], '\n'); n >= 0 {
		s.lineEnd = i + n
	}
	s.closing, s.angle, s.par = map[int]int{}, nextByte{}, nextByte{}
	var open []int
	for j := i - 1; j < s.lineEnd; j++ {
		switch s.src[j] {
		case '\\':
			if j+1 < s.lineEnd && (s.src[j+1] == '(' || s.src[j+1] == ')') {
				j++
			}
		case '(':
			open = append(open, j)
		case ')':
			if len(open) == 0 {
				continue
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if s.src[last-1] == ']' {
				s.closing[last] = j
			}
		}
	}
}

// nextByte remembers where a byte was found, so that looking for it from growing
// offsets reads a line once.
type nextByte struct {
	at    int // 0 before the first search
	never bool
}

func (n *nextByte) from(src string, c byte, from int) int {
	if n.never || from > len(src) {
		return -1
	}
	if n.at < from {
		i := strings.IndexByte(src[from:], c)
		if i < 0 {
			n.never = true
			return -1
		}
		n.at = from + i
	}
	return n.at
}

// trimTitle leaves a title ("…" behind white space) out of a destination.
func trimTitle(src string, from, to int) text.Span {
	d := strings.TrimRight(src[from:to], " \t")
	if n := len(d); n > 1 && (d[n-1] == '"' || d[n-1] == '\'') {
		if q := strings.LastIndexByte(d[:n-1], d[n-1]); q > 0 && (d[q-1] == ' ' || d[q-1] == '\t') {
			d = d[:q]
		}
	}
	return trimmed(src, text.Span{Start: from, End: from + len(d)})
}

// trimmed takes the white space off both ends of a span.
func trimmed(src string, s text.Span) text.Span {
	for s.Start < s.End && (src[s.Start] == ' ' || src[s.Start] == '\t') {
		s.Start++
	}
	for s.End > s.Start && (src[s.End-1] == ' ' || src[s.End-1] == '\t') {
		s.End--
	}
	return s
}

// decode takes backslash and percent escapes out of a destination.
func decode(dest string) string {
	dest = unescape(dest)
	if !strings.Contains(dest, "%") {
		return dest
	}
	if d, err := url.PathUnescape(dest); err == nil {
		return d
	}
	return dest
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] != '\\' && punctuation(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// scheme starts a destination that is a URL, and a path with a drive letter.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// destPath gives the file path a destination means, see Link.Path. The anchor is
// cut before escapes are decoded: "%23" is a "#" in a name.
func destPath(raw string) string {
	p, _, _ := strings.Cut(raw, "#")
	p = strings.ReplaceAll(decode(p), `\`, "/")
	if p == "" || p[0] == '/' || p[0] == '~' || scheme.MatchString(p) {
		return ""
	}
	return path.Clean(p)
}

// EncodeDest writes a path, and an anchor that may follow it, as a link
// destination that every Markdown reader takes whole: in angle brackets where it
// holds white space or parentheses.
func EncodeDest(dest string) string {
	p, _, _ := strings.Cut(dest, "#")
	return EncodeTarget(p, dest[len(p):])
}

// EncodeTarget is EncodeDest for a path in which "#" is a character like any other;
// anchor is put behind it as it is, with its own "#".
func EncodeTarget(p, anchor string) string { return angled(EncodePath(p) + anchor) }

// EncodePath writes what a reader of a path would decode or take for an anchor as
// percent escapes. A path with white space or parentheses still has to stand in
// angle brackets.
func EncodePath(p string) string {
	if !strings.ContainsAny(p, "%\\#<>\n\r") {
		return p
	}
	if decode(p) != p || strings.ContainsAny(p, "#<>\n\r") { // one escape makes every "%" one
		p = strings.NewReplacer("%", "%25", "#", "%23").Replace(p)
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "%0A", "\r", "%0D").Replace(p)
}

func angled(dest string) string {
	if strings.ContainsAny(dest, " \t()") {
		return "<" + dest + ">"
	}
	return dest
}
