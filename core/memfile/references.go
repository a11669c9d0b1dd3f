package memfile

import (
	"html"
	"strings"

	"mem/core/text"
)

// ReferenceKind is a way to lead somewhere that is none of what Links gives.
type ReferenceKind int

// The kinds of references.
const (
	Definition ReferenceKind = iota // "[label]: dest"
	Footnote                        // "[^1]: dest", a definition to readers without footnotes
	Image                           // "![words](dest)"
	Broken                          // an inline link that goes on in the next line, or stands in the words of another
	Autolink                        // "<file:///x>"
	HTML                            // the value of href, src and their like
)

// Reference is what else than a link leads somewhere. Its Text is empty.
type Reference struct {
	Link
	Kind ReferenceKind
}

// Clone copies what the reference says, see Link.Clone.
func (r Reference) Clone() Reference {
	r.Link = r.Link.Clone()
	return r
}

// References gives what in one part of a document leads somewhere and is none of
// its links, which are given: in order of kind and place, without code and
// comments. It rather finds one too many than one too few: what a renderer would
// not follow may be there. outline is called only where something is found without
// it, so that a text with no reference costs little. Its cost is linear.
func References(t *text.Text, part text.Span, links []Link, outline func() Outline) []Reference {
	src := t.Slice(part)
	if !strings.Contains(src, "](") && !strings.Contains(src, "]:") && !strings.Contains(src, "<") {
		return nil
	}
	s := referenceScanner{src: t.String(), start: part.Start, end: part.End, links: links, most: 1}
	if s.scan(); len(s.found) == 0 {
		return nil
	}
	o := outline()
	s = referenceScanner{src: s.src, start: s.start, end: s.end, links: links, o: &o}
	s.scan()
	return s.found
}

type referenceScanner struct {
	src        string
	start, end int
	links      []Link
	o          *Outline // nil where it is not known yet
	most       int      // 0 for all
	found      []Reference
}

func (s *referenceScanner) scan() {
	s.brackets()
	if !s.enough() {
		s.autolinks()
	}
	if !s.enough() {
		s.tags()
	}
}

func (s *referenceScanner) enough() bool { return s.most > 0 && len(s.found) >= s.most }

func (s *referenceScanner) hidden(i int) bool {
	return s.o != nil && (In(s.o.Code, i) || In(s.o.Comments, i) || In(s.o.Hidden, i))
}

var asBrowsers = strings.NewReplacer("\n", "", "\r", "", "\t", "", `\`, "/")

func (s *referenceScanner) add(kind ReferenceKind, span, dest text.Span) {
	raw := s.src[dest.Start:dest.End]
	if raw == "" {
		return
	}
	r := Reference{Kind: kind, Link: Link{Span: span, Text: text.Span{Start: span.Start, End: span.Start}, Dest: dest}}
	switch kind {
	case Autolink: // neither entities nor backslashes mean anything there
		r.Target = raw
	case HTML:
		// Browsers take entities without their ";" too, and drop line breaks.
		plain := asBrowsers.Replace(strings.Trim(html.UnescapeString(raw), " "))
		masked := strings.ReplaceAll(plain, "&", "%26") // no entity is decoded twice
		r.Target, r.path = decode(masked), destPath(masked)
	default:
		r.Target, r.path = decode(raw), destPath(raw)
	}
	s.found = append(s.found, r)
}

// brackets finds definitions, images and inline links that Links does not give.
func (s *referenceScanner) brackets() {
	open := -1  // the last "[" of the paragraph
	label := -1 // the same, while no "]" follows it
	link := 0   // the first of the links that ends behind i
	for i := s.start; i < s.end && !s.enough(); i++ {
		next := strings.IndexAny(s.src[i:s.end], "[]\\\n")
		if next < 0 {
			return
		}
		i += next
		switch s.src[i] {
		case '\\':
			if i+1 < s.end && punctuation(s.src[i+1]) {
				i++
			}
		case '\n':
			if s.blankLine(i + 1) {
				open, label = -1, -1
			}
		case '[':
			if !s.hidden(i) {
				open, label = i, i
			}
		case ']':
			from := label
			label = -1
			if open < 0 || i+1 >= s.end || s.hidden(i) {
				continue
			}
			switch s.src[i+1] {
			case ':':
				if from < 0 || !s.startsLine(from) {
					continue
				}
				if dest, end, ok := s.dest(i + 2); ok && s.endsDefinition(end) {
					kind := Definition
					if s.src[from+1] == '^' {
						kind = Footnote
					}
					s.add(kind, text.Span{Start: from, End: end}, dest)
					i = end - 1
				}
			case '(':
				dest, end, ok := s.dest(i + 2)
				if !ok || !s.endsInline(end) {
					continue
				}
				for link < len(s.links) && s.links[link].Span.End <= i {
					link++
				}
				if s.given(link, i, dest) {
					continue
				}
				kind, from := Broken, open
				if open > s.start && s.src[open-1] == '!' {
					kind, from = Image, open-1
				}
				s.add(kind, text.Span{Start: from, End: end}, dest)
			}
		}
	}
}

// given reports whether the "](" at i belongs to one of the links from number n on.
func (s *referenceScanner) given(n, i int, dest text.Span) bool {
	if n >= len(s.links) || s.links[n].Wiki {
		return false
	}
	l := s.links[n]
	return l.Text.End == i && l.Dest.Start == dest.Start
}

// blankLine reports whether the line at i is blank.
func (s *referenceScanner) blankLine(i int) bool {
	for i < s.end && (s.src[i] == ' ' || s.src[i] == '\t' || s.src[i] == '\r') {
		i++
	}
	return i >= s.end || s.src[i] == '\n'
}

// startsLine reports whether only marks of lists and quotes stand before i.
func (s *referenceScanner) startsLine(i int) bool {
	for i--; i >= s.start && s.src[i] != '\n'; i-- {
		if c := s.src[i]; !strings.ContainsRune(" \t>-*+.)", rune(c)) && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// space skips white space at i with one line break at most, and the marks of a
// quote behind it.
func (s *referenceScanner) space(i int) int {
	broken := false
	for ; i < s.end; i++ {
		switch c := s.src[i]; {
		case c == ' ', c == '\t', c == '\r', c == '>' && broken:
		case c == '\n' && !broken:
			broken = true
		default:
			return i
		}
	}
	return i
}

// dest reads a destination that stands at i or behind white space there, as
// CommonMark has it: in angle brackets, or without white space and with balanced
// parentheses. end is behind it.
func (s *referenceScanner) dest(i int) (dest text.Span, end int, ok bool) {
	i = s.space(i)
	most := min(s.end, i+maxDestination)
	if i < most && s.src[i] == '<' {
		for j := i + 1; j < most && s.src[j] != '\n' && s.src[j] != '<'; j++ {
			switch s.src[j] {
			case '\\':
				j++
			case '>':
				return text.Span{Start: i + 1, End: j}, j + 1, true
			}
		}
		return dest, 0, false
	}
	depth, j := 0, i
scan:
	for ; j < most; j++ {
		switch c := s.src[j]; {
		case c == '\\' && j+1 < most && punctuation(s.src[j+1]):
			j++
		case c == '(':
			depth++
		case c == ')':
			if depth == 0 {
				break scan
			}
			depth--
		case c <= ' ' || c == 0x7f:
			break scan
		case c == ']' && j+1 < s.end && s.src[j+1] == '(':
			// Another may start here: reading on would take quadratic time. What
			// leads out of a directory does so before this or behind it.
			return text.Span{Start: i, End: j}, j, j > i
		}
	}
	j = min(j, most)
	return text.Span{Start: i, End: j}, j, j > i && depth == 0
}

// endsInline reports whether a link may end at i, behind its destination: with ")",
// or with a title. Where another one may start, dest stopped.
func (s *referenceScanner) endsInline(i int) bool {
	j := s.space(i)
	return j < s.end && (s.src[j] == ')' || s.src[i] == ']' || j > i && strings.IndexByte(`"'(`, s.src[j]) >= 0)
}

// endsDefinition reports whether a definition may end at i: with its line, or with a
// title.
func (s *referenceScanner) endsDefinition(i int) bool {
	j := i
	for j < s.end && (s.src[j] == ' ' || s.src[j] == '\t' || s.src[j] == '\r') {
		j++
	}
	return j >= s.end || s.src[j] == '\n' || j > i && strings.IndexByte(`"'(`, s.src[j]) >= 0
}

// autolinks finds URLs in angle brackets.
func (s *referenceScanner) autolinks() {
	for i := s.start; i < s.end && !s.enough(); i++ {
		next := strings.IndexByte(s.src[i:s.end], '<')
		if next < 0 {
			return
		}
		i += next
		j := i + 1
		for j < s.end && s.src[j] > ' ' && s.src[j] != '<' && s.src[j] != '>' {
			j++
		}
		if j < s.end && s.src[j] == '>' && j-i <= maxDestination && hasScheme(s.src[i+1:j]) && s.src[i+2] != ':' && !s.hidden(i) && !escaped(s.src[max(s.start, i-8):i]) {
			s.add(Autolink, text.Span{Start: i, End: j + 1}, text.Span{Start: i + 1, End: j})
		}
		i = j - 1
	}
}
