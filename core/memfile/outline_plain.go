package memfile

import (
	"strings"

	"mem/core/text"
)

// plainOutline gives the outline of a part whose structure can be told line by line,
// as that of nearly every memory can, at a tenth of goldmark's time. It gives false,
// and says nothing, where it takes more than that: HTML, tabs and deep indents,
// underlined headings, code spans over several lines, fences in lists, CRLF.
//
// Why that is enough: lines that are indented by three columns at most, with three at
// most behind each mark, hold no indented code. A heading or a fence at the margin
// ends whatever is open above it, and stands at the top level. Where each code span
// is closed on its own line, none goes over to the next, whatever paragraph that
// belongs to.
func plainOutline(t *text.Text, part text.Span) (Outline, bool) {
	src := t.String()
	if !wholeLines(t, part) || part.Len() > 0 && hasAny(t.Slice(part), "<!--", "\r", "\v", "\f") {
		return Outline{}, false
	}
	var o Outline
	fence, fenceStart := "", 0
	above := false // the line above has text
	for at := part.Start; at < part.End; {
		start, end := at, part.End
		if i := strings.IndexByte(src[at:part.End], '\n'); i >= 0 {
			end = at + i
		}
		at = min(end+1, part.End)
		l := src[start:end]
		if fence != "" {
			if closesFence(l, fence) {
				if start > fenceStart {
					o.Code = append(o.Code, text.Span{Start: fenceStart, End: start})
				}
				fence = ""
			}
			continue
		}
		rest, ok := plainLine(l)
		switch {
		case !ok, above && underline(l):
			return Outline{}, false
		case rest == "":
			above = strings.Trim(l, " \t") != "" // a mark alone may be text
			continue
		}
		above = true
		margin := len(rest) == len(l)
		switch rest[0] {
		case '<':
			return Outline{}, false
		case '#':
			level := len(rest) - len(strings.TrimLeft(rest, "#"))
			title := strings.TrimSpace(rest[level:])
			if len(rest) > level && rest[level] > ' ' || level > 6 {
				break // text
			}
			if title == "" || rest[level] != ' ' || title[len(title)-1] == '#' {
				return Outline{}, false
			}
			if margin {
				o.Headings = append(o.Headings, Heading{Level: level, Text: title, Line: text.Span{Start: start, End: at}})
			} else if l[0] == ' ' {
				return Outline{}, false // of a list item, or a heading of its own
			}
		case '`', '~':
			mark := rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
			if len(mark) < 3 {
				break
			}
			info := strings.Trim(rest[len(mark):], " \t")
			if !margin || strings.IndexByte(info, '`') >= 0 {
				return Outline{}, false
			}
			if info != "" {
				i := start + len(mark) + strings.Index(rest[len(mark):], info)
				o.Code = append(o.Code, text.Span{Start: i, End: i + len(info)})
			}
			fence, fenceStart = mark, at
			continue
		}
		if o.Code, ok = codeSpans(o.Code, src, start, end); !ok {
			return Outline{}, false
		}
	}
	if fence != "" {
		return Outline{}, false
	}
	o.endSections(part.End)
	return o, true
}

// wholeLines reports whether a part begins and ends where lines do.
func wholeLines(t *text.Text, part text.Span) bool {
	src := t.String()
	begins := part.Start == 0 || src[part.Start-1] == '\n' || t.HasBOM() && part.Start == len(text.BOM)
	return begins && (part.End == len(src) || part.End > 0 && src[part.End-1] == '\n')
}

func hasAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// plainLine takes the marks of lists and quotes off a line, and the spaces around
// them; it gives false where these are more than a few.
func plainLine(l string) (rest string, ok bool) {
	const most = 2 // marks
	rest = l
	for marks := 0; ; marks++ {
		bare := strings.TrimLeft(rest, " ")
		switch {
		case strings.TrimLeft(bare, "\t ") == "":
			return "", true
		case len(rest)-len(bare) > 3, bare[0] == '\t', marks > most:
			return "", false
		}
		n := 1
		if bare[0] != '>' {
			if n = len(markOf(bare)); n == 0 {
				return bare, true
			}
		}
		rest = bare[n:]
	}
}

// underline reports whether a line makes the text above it a heading.
func underline(l string) bool {
	l = strings.Trim(l, " \t")
	return l != "" && (l[0] == '=' || l[0] == '-') && strings.Trim(l, l[:1]) == ""
}

func closesFence(l, fence string) bool {
	bare := strings.TrimLeft(l, " ")
	return len(l)-len(bare) <= 3 && strings.HasPrefix(bare, fence) && strings.Trim(strings.TrimLeft(bare, fence[:1]), " \t") == ""
}

// codeSpans adds the code spans of a line, and gives false where one is not closed
// on it.
func codeSpans(spans []text.Span, src string, from, to int) ([]text.Span, bool) {
	if strings.IndexByte(src[from:to], '`') < 0 {
		return spans, true
	}
	for i := from; i < to; {
		switch src[i] {
		case '\\':
			i += 2
			continue
		case '`':
		default:
			i++
			continue
		}
		n := runOf(src[i:to])
		end := i + n
		for {
			next := strings.IndexByte(src[end:to], '`')
			if next < 0 {
				return spans, false
			}
			run := runOf(src[end+next : to])
			end += next + run
			if run == n {
				break
			}
		}
		spans = append(spans, text.Span{Start: i, End: end})
		i = end
	}
	return spans, true
}
