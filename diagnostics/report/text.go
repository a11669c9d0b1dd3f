package report

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"mem/core/memdir"
	"mem/diagnostics"
)

// Part is what a piece of the text format is, for those who colour it.
type Part int

// The parts of the text format.
const (
	AsPath Part = iota
	AsError
	AsWarning
	AsInformation
	AsHint
	AsRule
	AsAside
	AsGood
)

// Look says how the text format looks.
type Look struct {
	// Terminal says that a person looks at it: findings by file, with their source
	// lines. Else each is one line, which other programs can take apart.
	Terminal bool
	Width    int                       // columns of the terminal, 0 where they are not known
	Paint    func(Part, string) string // nil leaves all as it is
}

func (l Look) paint(p Part, s string) string {
	if l.Paint == nil {
		return s
	}
	return l.Paint(p, s)
}

// Text prints a Report for people. What files hold is data: no character of it
// commands a terminal, ends a line or passes for a word of ours.
func Text(w io.Writer, r *Report, look Look) error {
	var b strings.Builder
	if look.Terminal {
		grouped(&b, r, look)
	} else {
		lines(&b, r)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines prints one finding a line: path:line:column: severity rule: message.
func lines(b *strings.Builder, r *Report) {
	for _, f := range r.Findings {
		fmt.Fprintf(b, "%s:%d:%d: %s %s: %s\n", linePath(f.Path), f.Line, f.Column, f.Severity, f.Rule, oneLine(f.Message))
	}
	for _, u := range r.Unread {
		fmt.Fprintf(b, "%s: not checked: %s\n", linePath(u.Path), oneLine(u.Message))
	}
	for _, f := range r.Failures {
		fmt.Fprintf(b, "%s: not checked by %s: %s\n", linePath(f.Path), f.Rule, oneLine(f.Message))
	}
}

// linePath is a path at the start of a line. "::" and "##[" there would be a
// command to the machines of continuous integration.
func linePath(p string) string {
	p = visiblePath(p)
	if strings.HasPrefix(p, "::") || strings.HasPrefix(p, "##[") {
		return "." + string(filepath.Separator) + p
	}
	return p
}

// oneLine shows what does not show, and keeps a text on its line.
func oneLine(s string) string { return memdir.Shown(s, math.MaxInt) }

func grouped(b *strings.Builder, r *Report, look Look) {
	path, secret := "", secretLines(r)
	for i, f := range r.Findings {
		if i == 0 || f.Path != path {
			path = f.Path
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(look.paint(AsPath, visiblePath(path)) + "\n")
		}
		fmt.Fprintf(b, "  %s %s %s\n", look.paint(AsAside, fmt.Sprintf("%d:%d", f.Line, f.Column)), look.paint(partOf(f.Severity), f.Severity.String()), look.paint(AsRule, f.Rule))
		wrap(b, oneLine(f.Message), "    ", look.Width)
		if !secret[place{f.Path, f.Line}] {
			source(b, f, look)
		}
		for _, rel := range f.Related {
			wrap(b, fmt.Sprintf("see %s:%d:%d: %s", visiblePath(rel.Path), rel.Line, rel.Column, oneLine(rel.Message)), "    ", look.Width)
		}
		for _, fix := range f.Fixes {
			unsafe := ""
			switch {
			case fix.Manual:
				unsafe = " (in the editor)"
			case !fix.Safe:
				unsafe = " (--unsafe)"
			}
			fmt.Fprintf(b, "    %s\n", look.paint(AsAside, "fix: "+oneLine(fix.Title)+unsafe))
		}
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n")
	}
	for _, u := range r.Unread {
		fmt.Fprintf(b, "%s %s: %s\n", look.paint(AsWarning, "not checked:"), visiblePath(u.Path), oneLine(u.Message))
	}
	for _, f := range r.Failures {
		fmt.Fprintf(b, "%s %s by %s: %s\n", look.paint(AsWarning, "not checked:"), visiblePath(f.Path), f.Rule, oneLine(f.Message))
	}
	b.WriteString(look.paint(summaryPart(r), Summary(r)) + "\n")
}

// place is a line of a file.
type place struct {
	path string
	line int
}

// secretLines gives the lines in which a secret was found. They are not shown,
// whatever else is wrong in them: what a terminal or a log shows is copied.
func secretLines(r *Report) map[place]bool {
	lines := map[place]bool{}
	for _, f := range r.Findings {
		for l := f.Line; f.Rule == secretRule && l <= f.EndLine; l++ {
			lines[place{f.Path, l}] = true
		}
	}
	return lines
}

// secretRule is the rule whose findings stand where secrets do.
const secretRule = "secret"

func partOf(s diagnostics.Severity) Part {
	switch s {
	case diagnostics.Error:
		return AsError
	case diagnostics.Warning:
		return AsWarning
	case diagnostics.Information:
		return AsInformation
	}
	return AsHint
}

func summaryPart(r *Report) Part {
	switch {
	case r.Worst() != diagnostics.Off:
		return partOf(r.Worst())
	case !r.Complete():
		return AsWarning
	}
	return AsGood
}

// Summary says in one line what a Report holds.
func Summary(r *Report) string {
	var counts [diagnostics.Error + 1]int
	mended := 0
	for _, f := range r.Findings {
		counts[f.Severity]++
		if len(f.Fixes) > 0 {
			mended++
		}
	}
	s := "nothing found"
	if len(r.Findings) > 0 {
		var parts []string
		for _, c := range []struct {
			severity diagnostics.Severity
			one      string
		}{{diagnostics.Error, "error"}, {diagnostics.Warning, "warning"}, {diagnostics.Information, "information"}, {diagnostics.Hint, "hint"}} {
			if n := counts[c.severity]; n > 0 && c.severity == diagnostics.Information {
				parts = append(parts, fmt.Sprintf("%d %s", n, c.one))
			} else if n > 0 {
				parts = append(parts, count(n, c.one))
			}
		}
		s = fmt.Sprintf("%s: %s", count(len(r.Findings), "finding"), strings.Join(parts, ", "))
	}
	s += fmt.Sprintf("; %s in %s checked", count(r.Files, "file"), counted(len(r.Directories), "memory directory", "memory directories"))
	if n := len(r.Unread) + len(r.Failures); n > 0 {
		s += fmt.Sprintf(", %d not", n)
	}
	if mended > 0 {
		s += fmt.Sprintf("; %d with a fix", mended)
	}
	return s
}

func count(n int, what string) string { return counted(n, what, what+"s") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
