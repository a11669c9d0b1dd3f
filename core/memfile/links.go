package memfile

import (
	"net/url"
	"path"
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
}

// Path gives the relative file path of the link without its anchor, cleaned, or
// "" when the link leads elsewhere: to a URL, an anchor or an absolute path.
func (l Link) Path() string {
	if l.Wiki {
		return ""
	}
	p, _, _ := strings.Cut(l.Target, "#")
	if p == "" || strings.HasPrefix(p, "/") || strings.Contains(p, "://") || strings.HasPrefix(p, "mailto:") {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// Links gives the links in one part of a document, in order, without those in
// code and comments. Unlike CommonMark it accepts spaces and balanced
// parentheses in a destination and brackets in a text, since real indexes have
// them. Its cost is linear.
func Links(t *text.Text, part text.Span, o Outline) []Link {
	var links []Link
	src := t.String()
	// open holds the offsets of "[" not yet closed on this line.
	var open []int
	for i := part.Start; i < part.End; i++ {
		switch src[i] {
		case '\n':
			open = open[:0]
		case '\\':
			i++
		case '[':
			if In(o.Code, i) || In(o.Comments, i) {
				continue
			}
			if l, ok := wikiLink(src, i, part.End); ok {
				links = append(links, l)
				i = l.Span.End - 1
				continue
			}
			open = append(open, i)
		case ']':
			if len(open) == 0 || In(o.Code, i) {
				continue
			}
			start := open[len(open)-1]
			open = open[:len(open)-1]
			if i+1 >= part.End || src[i+1] != '(' {
				continue
			}
			dest, end, ok := destination(src, i+2, part.End)
			if !ok {
				continue
			}
			links = append(links, Link{
				Span:   text.Span{Start: start, End: end},
				Text:   text.Span{Start: start + 1, End: i},
				Dest:   dest,
				Target: decode(src[dest.Start:dest.End]),
			})
			i = end - 1
			open = open[:0]
		}
	}
	return links
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
	if stop+1 >= end || src[stop] != ']' || src[stop+1] != ']' || stop == i+2 {
		return Link{}, false
	}
	// "[[x]](y.md)" is a link whose text has brackets.
	if stop+2 < end && src[stop+2] == '(' {
		return Link{}, false
	}
	name := src[i+2 : stop]
	dest := text.Span{Start: i + 2, End: stop}
	if bar := strings.IndexByte(name, '|'); bar >= 0 {
		name = name[:bar]
		dest.End = dest.Start + bar
	}
	name = strings.TrimSpace(name)
	if name == "" {
		return Link{}, false
	}
	return Link{Span: text.Span{Start: i, End: stop + 2}, Text: text.Span{Start: i + 2, End: stop}, Dest: dest, Target: name, Wiki: true}, true
}

// maxDestination bounds how far a destination is looked for, in bytes, so that
// a line of unclosed brackets costs linear time. Paths are shorter everywhere.
const maxDestination = 4096

// destination reads a link destination that starts at i, behind "(".
func destination(src string, i, limit int) (dest text.Span, end int, ok bool) {
	limit = min(limit, i+maxDestination)
	if i < limit && src[i] == '<' {
		for j := i + 1; j < limit && src[j] != '\n'; j++ {
			if src[j] == '>' {
				for e := j + 1; e < limit && src[e] != '\n'; e++ {
					if src[e] == ')' {
						return text.Span{Start: i + 1, End: j}, e + 1, true
					}
				}
				return dest, 0, false
			}
		}
		return dest, 0, false
	}
	depth := 0
	for j := i; j < limit; j++ {
		switch src[j] {
		case '\n':
			return dest, 0, false
		case '(':
			depth++
		case ')':
			if depth > 0 {
				depth--
				continue
			}
			return trimTitle(src, i, j), j + 1, true
		}
	}
	return dest, 0, false
}

// trimTitle leaves a title ("…" behind white space) out of a destination.
func trimTitle(src string, from, to int) text.Span {
	d := strings.TrimRight(src[from:to], " \t")
	if n := len(d); n > 1 && (d[n-1] == '"' || d[n-1] == '\'') {
		if q := strings.LastIndexByte(d[:n-1], d[n-1]); q > 0 && (d[q-1] == ' ' || d[q-1] == '\t') {
			d = strings.TrimRight(d[:q], " \t")
		}
	}
	lead := len(d) - len(strings.TrimLeft(d, " \t"))
	return text.Span{Start: from + lead, End: from + len(d)}
}

func decode(dest string) string {
	if !strings.Contains(dest, "%") {
		return dest
	}
	if d, err := url.PathUnescape(dest); err == nil {
		return d
	}
	return dest
}

// EncodeDest writes a path as a link destination that every Markdown reader
// takes whole: in angle brackets where it holds white space or parentheses.
func EncodeDest(p string) string {
	if strings.ContainsAny(p, " \t()") {
		return "<" + p + ">"
	}
	return p
}
