package cli

import (
	"fmt"
	"strings"

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
	if !a.streams.Terminal || a.env.Getenv("NO_COLOR") != "" {
		return s
	}
	return c.EscapeSeq() + s + text.EscapeReset
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.streams.Out, format, args...) }

// table prints rows: aligned on a terminal, separated by tabs into a pipe.
func (a *app) table(head []string, rows [][]string) {
	if !a.streams.Terminal {
		for _, r := range rows {
			a.printf("%s\n", strings.Join(r, "\t"))
		}
		return
	}
	w := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	w.SetStyle(style)
	var h table.Row
	for _, c := range head {
		h = append(h, a.style(bold, c))
	}
	w.AppendHeader(h)
	for _, r := range rows {
		var row table.Row
		for _, c := range r {
			row = append(row, c)
		}
		w.AppendRow(row)
	}
	w.Style().Format.Header = text.FormatDefault
	if a.streams.Width > 40 {
		last := len(head)
		w.SetColumnConfigs([]table.ColumnConfig{{Number: last, WidthMax: max(a.streams.Width/2, 30), WidthMaxEnforcer: text.WrapSoft}})
	}
	a.printf("%s\n", w.Render())
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
			a.printf("%s %s %s\n", a.style(bold, f.Action), f.Path, a.style(faint, f.Hash))
		}
		a.printf("change %s %s\n", a.style(bold, c.ID), a.style(faint, "(mem-mcp undo "+c.ID+" takes it back)"))
	}
	for _, f := range c.Findings {
		a.printf("%s %s\n", a.style(yellow, "found:"), f.Reason)
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
