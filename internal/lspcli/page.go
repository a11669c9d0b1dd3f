package lspcli

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"mem/internal/term"
)

// maxPage is how wide a page is set, in columns: longer lines are hard to read.
const maxPage = 100

// page sets a page of Markdown for a terminal: headings stand out, examples are
// indented, paragraphs fill the width. It knows what our own pages use.
func (a *app) page(md string) string {
	width := maxPage
	if a.Width > 0 {
		width = min(width, a.Width)
	}
	var b strings.Builder
	var paragraph []string
	indent := ""
	flush := func() {
		if len(paragraph) == 0 {
			return
		}
		set := text.WrapSoft(strings.Join(paragraph, " "), max(width-len(indent), 20))
		for i, line := range strings.Split(set, "\n") {
			if i > 0 {
				line = indent + line
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		paragraph, indent = nil, ""
	}
	fence := ""
	for line := range strings.Lines(md) {
		line = strings.TrimRight(line, "\r\n")
		switch mark := fenceOf(line); {
		case fence != "" && mark != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark:
			fence = ""
		case fence != "":
			b.WriteString(strings.TrimRight("    "+a.Style(term.Faint, term.Visible(line)), " ") + "\n")
		case mark != "":
			flush()
			fence = mark
		case strings.HasPrefix(line, "#"):
			flush()
			b.WriteString(a.Style(term.Bold, strings.TrimLeft(line, "# ")) + "\n")
		case strings.HasPrefix(line, "- "):
			flush()
			paragraph, indent = []string{line}, "  "
		case strings.TrimSpace(line) == "":
			flush()
			b.WriteString("\n")
		default:
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
	return b.String()
}

// fenceOf gives the backticks that a fence starts with, "" for another line.
func fenceOf(line string) string {
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < 3 {
		return ""
	}
	return line[:n]
}
