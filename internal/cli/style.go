package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mem/core/memdir"
	"mem/core/memory"
)

var (
	bold   = text.Colors{text.Bold}
	faint  = text.Colors{text.Faint}
	red    = text.Colors{text.FgRed, text.Bold}
	yellow = text.Colors{text.FgYellow}
	green  = text.Colors{text.FgGreen}
)

// style colours text on a terminal, unless NO_COLOR is set.
func (a *app) style(c text.Colors, s string) string {
	if s == "" || !a.streams.Terminal || a.env.Getenv("NO_COLOR") != "" {
		return s
	}
	return c.EscapeSeq() + s + text.EscapeReset
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.streams.Out, format, args...) }

// minLast is how narrow the last column of a table may get, in columns.
const minLast = 20

// table prints rows: aligned on a terminal, its last column wrapped to what the
// width leaves; separated by tabs into a pipe. Cells are data: they cannot break
// a row or command a terminal.
func (a *app) table(head []string, rows [][]string) {
	w := table.NewWriter()
	w.SuppressTrailingSpaces()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	w.SetStyle(style)
	var names table.Row
	widths := make([]int, len(head))
	for i, c := range head {
		names = append(names, a.style(bold, c))
		widths[i] = text.StringWidth(c)
	}
	w.AppendHeader(names)
	for _, r := range rows {
		var row table.Row
		for i, c := range r {
			c = clean(c)
			row = append(row, c)
			r[i] = c
			widths[i] = max(widths[i], text.StringWidth(c))
		}
		w.AppendRow(row)
		if !a.streams.Terminal {
			a.printf("%s\n", strings.Join(r, "\t"))
		}
	}
	if !a.streams.Terminal {
		return
	}
	if last := len(head) - 1; a.streams.Width > 0 {
		left := a.streams.Width
		for _, n := range widths[:last] {
			left -= n + 2
		}
		w.SetColumnConfigs([]table.ColumnConfig{{Number: last + 1, WidthMax: max(left, minLast), WidthMaxEnforcer: text.WrapSoft}})
	}
	a.printf("%s\n", w.Render())
}

// data gives a text of a memory for people to look at: on a terminal without what
// would command it, into a pipe as the bytes stand in the file.
func (a *app) data(s string) string {
	if !a.streams.Terminal {
		return s
	}
	return visible(s)
}

// visible shows control characters, but for those that lay a text out, and those
// that turn its direction around.
func visible(s string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != "\uFFFD"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clean puts data into one line without control characters.
func clean(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == ' ' }), " ")
}

// fill prints how full the index is.
func (a *app) fill(f memdir.Fill) {
	c := green
	if f.Percent >= 70 {
		c = yellow
	}
	if f.Dropped > 0 {
		c = red
	}
	a.printf("%s %d of %d lines, %d of %d %s\n", a.style(c, fmt.Sprintf("index %d %%:", f.Percent)), f.Lines, f.MaxLines, f.Size, f.MaxSize, f.Unit)
	if f.Warning != "" {
		a.printf("%s\n", a.style(c, f.Warning))
	}
}

// change prints what a change did.
func (a *app) change(c memory.Change) {
	if c.ID == "" {
		a.printf("nothing changed\n")
	} else {
		for _, f := range c.Files {
			a.printf("%s\n", strings.TrimRight(a.style(bold, f.Action)+" "+clean(f.Path)+" "+a.style(faint, f.Hash), " "))
		}
		if c.MoreFiles > 0 {
			a.printf("and %d more files\n", c.MoreFiles)
		}
		a.printf("change %s %s\n", a.style(bold, c.ID), a.style(faint, "(mem-mcp undo "+c.ID+" takes it back)"))
	}
	for _, f := range c.Findings {
		a.printf("%s %s\n", a.style(yellow, "found:"), clean(f.Reason))
	}
	a.fill(c.Index)
	a.notice(c.Notice)
}

// diff colours a unified diff.
func (a *app) diff(d string) string {
	var b strings.Builder
	for l := range strings.Lines(d) {
		line := strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			line = a.style(bold, line)
		case strings.HasPrefix(line, "+"):
			line = a.style(green, line)
		case strings.HasPrefix(line, "-"):
			line = a.style(red, line)
		case strings.HasPrefix(line, "@@"):
			line = a.style(faint, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
