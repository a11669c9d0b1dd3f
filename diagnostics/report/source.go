package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	defaultWidth = 100 // columns, where the terminal does not say
	minWidth     = 40
	tab          = "    "
)

// wrap prints a text in lines that the width holds.
func wrap(b *strings.Builder, s, indent string, width int) {
	if width <= 0 {
		width = defaultWidth
	}
	for line := range strings.Lines(text.WrapSoft(s, max(width, minWidth)-len(indent))) {
		b.WriteString(indent + strings.TrimRight(line, " \n") + "\n")
	}
}

// source prints the line that a finding starts on, with a mark below what is meant.
// Of a long line it prints what is around the mark.
func source(b *strings.Builder, f Finding, look Look) {
	if f.text == nil || f.span.Len() == 0 && f.text.Len() == 0 {
		return
	}
	span := f.text.Line(f.Line - 1)
	line := f.text.Slice(span)
	from := min(max(f.span.Start-span.Start, 0), len(line))
	to := min(max(f.span.End-span.Start, from), len(line))
	if strings.TrimSpace(line) == "" && from == to {
		return
	}
	width := defaultWidth
	if look.Width > 0 {
		width = max(look.Width, minWidth)
	}
	shown, at, n := window(line, from, to, width-len("    | "))
	b.WriteString("    " + look.paint(AsAside, "| ") + shown + "\n")
	b.WriteString("    " + look.paint(AsAside, "| ") + strings.Repeat(" ", at) + look.paint(partOf(f.Severity), strings.Repeat("^", n)) + "\n")
}

// window gives a line as it shows, cut to most columns around the bytes from–to,
// with the column at which these begin and how many columns they take.
func window(line string, from, to, most int) (shown string, at, n int) {
	type cell struct {
		s     string
		width int
	}
	var cells []cell
	first, last := -1, -1 // the cells of the mark
	before := rune(0)
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		s := visible(r, line[i:i+size], before)
		before = r
		if i+size > from && first < 0 {
			first = len(cells)
		}
		if i < to {
			last = len(cells)
		}
		cells = append(cells, cell{s, text.StringWidth(s)})
		i += size
	}
	if first < 0 {
		first = len(cells)
	}
	total, left := 0, 0
	for i, c := range cells {
		total += c.width
		if i < first {
			left += c.width
		}
	}
	// Where the line is too long, it starts so that a third of the room is before
	// the mark.
	start, skipped := 0, 0
	if total > most && left > most/3 {
		for start < first && left-skipped > most/3 {
			skipped += cells[start].width
			start++
		}
	}
	var b strings.Builder
	used := 0
	if start > 0 {
		b.WriteString("…")
		used = 1
	}
	at = used
	for i := start; i < len(cells); i++ {
		c := cells[i]
		if used+c.width > most-1 && i < len(cells)-1 || used+c.width > most {
			b.WriteString("…")
			break
		}
		if i < first {
			at += c.width
		} else if i <= last {
			n += c.width
		}
		b.WriteString(c.s)
		used += c.width
	}
	return b.String(), at, max(n, 1)
}

// visible gives a character as it shows: what has no look of its own is escaped as
// Go escapes it. before is the character before it, since what joins emoji is part
// of one.
func visible(r rune, s string, before rune) string {
	const joiner, symbols = '\u200d', '\u2190'
	switch {
	case r == '\t':
		return tab
	case r == utf8.RuneError && len(s) == 1:
		return `\x` + strconv.FormatUint(uint64(s[0])|0x100, 16)[1:]
	case unicode.IsGraphic(r), r == joiner && before >= symbols:
		return s
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// visiblePath gives a path on one line, with nothing in it that does not show.
func visiblePath(p string) string {
	var b strings.Builder
	before := rune(0)
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRuneInString(p[i:])
		if r == '\t' {
			b.WriteString(`\t`)
		} else {
			b.WriteString(visible(r, p[i:i+size], before))
		}
		before, i = r, i+size
	}
	return b.String()
}
