// Package term owns what the command lines of mem share: the streams that a
// command reads and writes, colour and tables on a terminal, text of other people
// made safe to look at, and what is said of a command line that cannot be
// understood.
package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	xterm "golang.org/x/term"

	"mem/core/settings"
)

// Streams is what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal tells that Out is a terminal, Width its columns, 0 where they are
	// not known.
	Terminal bool
	Width    int
	// ErrTerminal tells that Err is a terminal, where progress is shown.
	ErrTerminal bool
	// InTerminal tells that a person types In.
	InTerminal bool
}

// FromOS gives the streams of this process.
func FromOS() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		ErrTerminal: xterm.IsTerminal(int(os.Stderr.Fd())), InTerminal: xterm.IsTerminal(int(os.Stdin.Fd()))}
	if fd := int(os.Stdout.Fd()); xterm.IsTerminal(fd) {
		s.Terminal = true
		if w, _, err := xterm.GetSize(fd); err == nil {
			s.Width = w
		}
	}
	return s
}

// Colour is how a text stands out on a terminal.
type Colour = text.Colors

// The colours, by what they are used for: bold for names, faint for what is
// beside the point, the others for how bad something is.
var (
	Bold   = Colour{text.Bold}
	Faint  = Colour{text.Faint}
	Red    = Colour{text.FgRed, text.Bold}
	Yellow = Colour{text.FgYellow}
	Green  = Colour{text.FgGreen}
	Blue   = Colour{text.FgBlue}
)

// Printer prints to the streams of a command.
type Printer struct {
	Streams
	// Colour says that a terminal gets colours.
	Colour bool
}

// NewPrinter gives a Printer that colours unless NO_COLOR is set.
func NewPrinter(s Streams, env settings.Env) Printer {
	return Printer{Streams: s, Colour: env.Getenv("NO_COLOR") == ""}
}

// Style colours text on a terminal.
func (p Printer) Style(c Colour, s string) string {
	if s == "" || !p.Terminal || !p.Colour {
		return s
	}
	return c.EscapeSeq() + s + text.EscapeReset
}

// Printf prints to the output.
func (p Printer) Printf(format string, args ...any) { fmt.Fprintf(p.Out, format, args...) }

// JSON prints a value as JSON, indented.
func (p Printer) JSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// minLast is how narrow the last column of a table may get, in columns.
const minLast = 20

// Table prints rows: aligned on a terminal, its last column wrapped to what the
// width leaves; separated by tabs into a pipe. Cells are data: they cannot break
// a row or command a terminal.
func (p Printer) Table(head []string, rows [][]string) {
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
		names = append(names, p.Style(Bold, c))
		widths[i] = text.StringWidth(c)
	}
	w.AppendHeader(names)
	for _, r := range rows {
		var row table.Row
		for i, c := range r {
			c = Clean(c)
			row = append(row, c)
			r[i] = c
			widths[i] = max(widths[i], text.StringWidth(c))
		}
		w.AppendRow(row)
		if !p.Terminal {
			p.Printf("%s\n", strings.Join(r, "\t"))
		}
	}
	if !p.Terminal {
		return
	}
	if last := len(head) - 1; p.Width > 0 {
		left := p.Width
		for _, n := range widths[:last] {
			left -= n + 2
		}
		w.SetColumnConfigs([]table.ColumnConfig{{Number: last + 1, WidthMax: max(left, minLast), WidthMaxEnforcer: text.WrapSoft}})
	}
	p.Printf("%s\n", w.Render())
}

// Data gives a text of a memory for people to look at: on a terminal without what
// would command it, into a pipe as the bytes stand in the file.
func (p Printer) Data(s string) string {
	if !p.Terminal {
		return s
	}
	return Visible(s)
}

// Diff colours a unified diff.
func (p Printer) Diff(d string) string {
	var b strings.Builder
	for l := range strings.Lines(d) {
		line := strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			line = p.Style(Bold, line)
		case strings.HasPrefix(line, "+"):
			line = p.Style(Green, line)
		case strings.HasPrefix(line, "-"):
			line = p.Style(Red, line)
		case strings.HasPrefix(line, "@@"):
			line = p.Style(Faint, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
