package memfile

import (
	"strings"

	"mem/core/text"
)

// leading is what attributes are called whose value a browser follows or loads.
var leading = map[string]bool{"href": true, "src": true, "srcset": true, "poster": true, "data": true, "action": true, "formaction": true, "background": true}

// longest is the length of the longest of them.
const longest = len("formaction")

// openTag is a tag that was not closed yet.
type openTag struct {
	open  bool
	quote byte // the quotation mark that is open in it, 0 for none
}

func (t *openTag) mark(c byte) {
	switch t.quote {
	case 0:
		t.quote = c
	case c:
		t.quote = 0
	}
}

// tags finds the attributes of HTML tags that lead somewhere. It does not read tags
// as a browser does, which takes quadratic time on hostile text. Where a "<" stands
// in quotation marks it may start a tag or not: an attribute counts while the tag
// from the first of them or the one from the last is open.
func (s *referenceScanner) tags() {
	var first, last openTag
	tag := 0
	var quotes [2]nextByte
	for i := s.start; i < s.end && !s.enough(); i++ {
		stops := "<"
		if first.open || last.open {
			stops = "<>\"'=\n"
		}
		next := strings.IndexAny(s.src[i:s.end], stops)
		if next < 0 {
			return
		}
		i += next
		// Backticks in a quoted value are no code, which the outline does not know.
		if s.hidden(i) && (!first.open || first.quote == 0 || !In(s.o.Code, i)) {
			continue
		}
		switch c := s.src[i]; c {
		case '<':
			if i+1 >= s.end || !letter(s.src[i+1]) {
				continue
			}
			if !first.open || first.quote == 0 {
				first, tag = openTag{open: true}, i
			}
			last = openTag{open: true}
		case '>':
			first.open = first.open && first.quote != 0
			last.open = last.open && last.quote != 0
		case '"', '\'':
			first.mark(c)
			last.mark(c)
		case '\n':
			if s.blankLine(i + 1) {
				first, last = openTag{}, openTag{}
			}
		case '=':
			if !s.leads(tag, i) {
				continue
			}
			v, bare, ok := s.value(i+1, &quotes)
			if ok {
				s.add(HTML, text.Span{Start: tag, End: v.End}, v)
			}
			if bare && v.Len() > 0 {
				i = v.End - 1 // so that no value is read twice
			}
		}
	}
}

// leads reports whether the "=" at i stands behind the name of an attribute that
// leads somewhere.
func (s *referenceScanner) leads(tag, i int) bool {
	end := i
	for end > tag && i-end < longest && whiteSpace(s.src[end-1]) {
		end--
	}
	start := end
	for start > tag && end-start <= longest && letter(s.src[start-1]) {
		start--
	}
	if start <= tag+1 || !strings.ContainsRune(" \t\r\n\"'/:", rune(s.src[start-1])) {
		return false
	}
	return leading[strings.ToLower(s.src[start:end])]
}

// value reads the value of an attribute behind its "=". bare is one without
// quotation marks.
func (s *referenceScanner) value(i int, quotes *[2]nextByte) (v text.Span, bare, ok bool) {
	i = s.space(i)
	if i >= s.end {
		return v, false, false
	}
	end := -1
	switch s.src[i] {
	case '"', '\'':
		n := 0
		if s.src[i] == '\'' {
			n = 1
		}
		i++
		end = quotes[n].from(s.src[:s.end], s.src[i-1], i)
	default:
		bare, end = true, i
		for end < s.end && end-i <= maxDestination && !whiteSpace(s.src[end]) && s.src[end] != '>' {
			end++
		}
	}
	return text.Span{Start: i, End: end}, bare, end > i && end-i <= maxDestination
}

func whiteSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
