package memfile

import (
	"bytes"
	"strings"

	"mem/core/text"
)

const (
	// maxMarkers and maxIndent bound the nesting that goldmark is given: each
	// mark of a list or quote on a line, and each two columns before one, may open
	// a level. Nobody writes memory that deep.
	maxMarkers = 16
	maxIndent  = 64
	// maxNested bounds levels times lines: a line costs about half a microsecond
	// for every level that is open above it.
	maxNested = 1 << 20
)

// tooDeep reports whether a part nests so deep that goldmark's time is no longer
// linear in its length.
func tooDeep(src []byte) bool {
	deepest, lines := 0, 0
	for at := 0; at < len(src); lines++ {
		end := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i
		}
		markers, indent := nesting(src[at:end])
		if markers > 1 && ruleLine(src[at:end]) {
			markers, indent = 1, 0
		}
		if markers > maxMarkers || indent > maxIndent {
			return true
		}
		deepest = max(deepest, markers+indent/2)
		at = end + 1
	}
	return deepest > 2 && deepest*lines > maxNested
}

// nesting counts the marks of lists and quotes that a line starts with, and the
// columns before the last of them.
func nesting(l []byte) (markers, indent int) {
	for i := 0; i < len(l); {
		digits := 0
		for i+digits < len(l) && l[i+digits] >= '0' && l[i+digits] <= '9' {
			digits++
		}
		mark := i + digits
		gap := mark+1 == len(l) || mark+1 < len(l) && (l[mark+1] == ' ' || l[mark+1] == '\t')
		switch {
		case digits == 0 && (l[i] == ' ' || l[i] == '\t'):
			i++
			continue
		case digits == 0 && l[i] == '>',
			digits == 0 && gap && (l[i] == '-' || l[i] == '+' || l[i] == '*'),
			digits > 0 && gap && (l[mark] == '.' || l[mark] == ')'):
			markers++
			indent = i
			i = mark + 1
		default:
			return markers, indent
		}
	}
	return markers, indent
}

// ruleLine reports whether a line's marks are one run, as in a rule or in the
// underline of a heading, which nests nothing.
func ruleLine(l []byte) bool {
	s := strings.TrimSpace(string(l))
	return s != "" && s[0] != '>' && strings.Trim(s, s[:1]+" \t") == ""
}

// outlineByLine reads headings, fences and comments line by line. It serves text
// nested too deep for goldmark; code spans in it are found line by line too.
func outlineByLine(t *text.Text, part text.Span) Outline {
	var o Outline
	src := t.String()
	fence, fenceStart := "", 0
	last := t.LineAt(max(part.End-1, part.Start))
	for i := t.LineAt(part.Start); i <= last; i++ {
		line := t.FullLine(i)
		line.Start, line.End = max(line.Start, part.Start), min(line.End, part.End)
		l := strings.TrimRight(src[line.Start:line.End], "\r\n")
		trimmed := strings.TrimLeft(l, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == "" {
				o.Code = append(o.Code, text.Span{Start: fenceStart, End: line.Start})
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence, fenceStart = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))], line.End
		case atxHeading().MatchString(l):
			level := len(atxHeading().FindStringSubmatch(l)[1])
			o.Headings = append(o.Headings, Heading{Level: level, Line: line,
				Text: strings.TrimSpace(strings.TrimRight(strings.TrimSpace(trimmed[level:]), "#"))})
		case strings.HasPrefix(trimmed, "<!--"):
			block := comments(src, text.Span{Start: line.End - len(src[line.Start:line.End]), End: part.End})
			if len(block) == 0 || block[0].Start >= line.End {
				continue
			}
			o.Comments = append(o.Comments, block[0])
			for i < last && t.FullLine(i).End < block[0].End {
				i++
			}
		default:
			o.inline(src, line)
		}
	}
	if fence != "" {
		o.Code = append(o.Code, text.Span{Start: fenceStart, End: part.End})
	}
	o.endSections(part.End)
	return o
}
