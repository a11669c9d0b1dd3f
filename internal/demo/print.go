package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// printer shows the steps as they are played.
type printer struct {
	out   io.Writer
	color bool
	width int
	err   error // of writing
}

// defaultWidth is where lines are cut when nobody says how wide Out is.
const defaultWidth = 120

func newPrinter(opt Options) *printer {
	p := &printer{out: opt.Out, color: opt.Color, width: opt.Width}
	if p.out == nil {
		p.out = io.Discard
	}
	if p.width < 40 {
		p.width = defaultWidth
	}
	return p
}

// Colours, as terminals know them.
const (
	bold   = "1"
	faint  = "2"
	red    = "1;31"
	green  = "32"
	cyan   = "36"
	yellow = "33"
)

func (p *printer) paint(code, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) put(s string) {
	if p.err == nil {
		if _, err := io.WriteString(p.out, s+"\n"); err != nil {
			p.err = fmt.Errorf("showing the demo: %w", err)
		}
	}
}

// mark prints text behind a coloured mark; what follows its first line is
// indented below it.
func (p *printer) mark(code, mark, s string) {
	mark = p.paint(code, mark)
	for _, l := range p.wrap(s, 4) {
		p.put("  " + mark + " " + l)
		mark = " "
	}
}

// wrap gives the lines of a text, none wider than the width less an indent.
func (p *printer) wrap(s string, indent int) []string {
	var out []string
	for _, l := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		for _, part := range strings.Split(text.WrapSoft(l, p.width-indent), "\n") {
			out = append(out, strings.TrimRight(part, " "))
		}
	}
	return out
}

func (p *printer) heading(n, of int, title string) {
	p.put("")
	p.put(p.paint(bold, fmt.Sprintf("%d/%d  %s", n, of, title)))
}

func (p *printer) say(s string) {
	for _, l := range p.wrap(s, 2) {
		p.put("  " + p.paint(faint, l))
	}
}

func (p *printer) back(s string)    { p.mark(yellow, "←", s) }
func (p *printer) held(s string)    { p.mark(green, "✓", s) }
func (p *printer) broken(s string)  { p.mark(red, "✗", s) }
func (p *printer) line(s string)    { p.put("      " + p.paint(faint, clip(s, p.width-6))) }
func (p *printer) sent(name string) { p.mark(cyan, "→", clip(name, p.width-4)) }

func (p *printer) call(to, name string, a args) {
	var parts []string
	for _, x := range a {
		parts = append(parts, x.name+" "+short(x.value))
	}
	p.sent(strings.TrimRight(to+": "+name+"  "+strings.Join(parts, ", "), " "))
}

func (p *printer) command(name, dir string) { p.sent(name + "  (in " + dir + ")") }

func (p *printer) end(r *Report) {
	p.put("")
	p.put(p.paint(green, fmt.Sprintf("All %d steps hold: %d claims checked, %d calls to %d server processes, %.1f s.",
		len(r.Steps), r.Checks, r.Calls, r.Servers, r.Seconds)))
	if r.Kept {
		p.put("Kept: " + r.Scratch)
		return
	}
	p.put("Scratch directory removed; no process is left.")
}

// maxShown bounds an argument that is shown, in columns.
const maxShown = 44

// short shows an argument in few characters.
func short(v any) string {
	s, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	}
	return fmt.Sprintf("%q", clip(strings.Join(strings.Fields(s), " "), maxShown))
}

// clip cuts s to n columns, with a mark.
func clip(s string, n int) string { return text.Snip(s, n, "…") }
