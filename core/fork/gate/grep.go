package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"mem/core/fork"
	"mem/core/memdir"
)

const (
	// maxSearched bounds what one call searches, in bytes.
	maxSearched = 64 << 20
	// maxMatched is how much is matched in one go, in bytes: an expression cannot be
	// stopped, and takes up to 4 µs a byte.
	maxMatched = 256 << 10
)

// errEnough ends a search.
var errEnough = errors.New("enough")

func runGrep(ctx context.Context, g *Gate, d decision) (fork.Called, error) {
	s := search{ctx: ctx, gate: g, in: d.in, most: d.in.number("head_limit", 0)}
	if err := s.prepare(); err != nil {
		return fork.Called{}, err
	}
	skipped, err := g.walk(ctx, d.at, func(p place, info fs.FileInfo) error {
		if s.fits != nil && !s.fits(below(d.at, p)) && !s.fits(info.Name()) {
			return nil
		}
		return s.file(p, info)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fork.Called{}, err
	}
	text := s.out.String()
	if text == "" {
		text = fmt.Sprintf("No match in %d files below %s.\n", s.files, d.at)
	}
	for _, note := range s.notes {
		text += "(" + note + ")\n"
	}
	skipped.left += s.unread
	return fork.Called{Text: text + skipped.String()}, nil
}

type search struct {
	ctx    context.Context
	gate   *Gate
	in     arguments
	most   int
	re     *regexp.Regexp
	fits   func(string) bool
	mode   string
	before int
	after  int
	whole  bool // the expression can be asked of a whole file first

	out    strings.Builder
	lines  int // of output
	files  int // searched
	bytes  int64
	unread int
	notes  []string
}

func (s *search) prepare() error {
	expr := s.in.text("pattern")
	if len(expr) > maxPattern {
		return fmt.Errorf("a pattern has at most %d bytes", maxPattern)
	}
	flags := "m"
	if s.in.yes("-i") {
		flags += "i"
	}
	if s.in.yes("multiline") {
		flags += "s"
	}
	re, err := regexp.Compile("(?" + flags + ")" + expr)
	if err != nil {
		return fmt.Errorf("the pattern is no regular expression of RE2: %w", err)
	}
	s.re, s.whole = re, !strings.Contains(expr, `\A`) && !strings.Contains(expr, `\z`)
	if glob := s.in.text("glob"); glob != "" {
		if s.fits, err = globs(glob); err != nil {
			return err
		}
	}
	switch s.mode = s.in.text("output_mode"); s.mode {
	case "", "files_with_matches":
		s.mode = "files"
	case "content", "files", "count":
	default:
		return fmt.Errorf("output_mode is content, files or count, not %s", memdir.ShownName(s.mode))
	}
	around := s.in.number("-C", 0)
	s.before, s.after = s.in.number("-B", around), s.in.number("-A", around)
	return nil
}

func (s *search) file(p place, info fs.FileInfo) error {
	if err := s.ctx.Err(); err != nil {
		return context.Cause(s.ctx)
	}
	if s.bytes += info.Size(); s.bytes > maxSearched {
		s.notes = append(s.notes, fmt.Sprintf("stopped after %d MB; give a path or a glob to search less", maxSearched>>20))
		return errEnough
	}
	content, err := s.gate.world.content(p)
	text := content.bytes
	switch {
	case err != nil:
		s.unread++
		return nil
	case content.binary:
		return nil
	}
	s.files++
	if s.whole && len(text) <= maxMatched && bytes.IndexByte(text, '\r') < 0 && !s.re.Match(text) {
		return nil
	}
	lines := linesOf(text)
	hit, n := make([]bool, lines.count()), 0
	if s.in.yes("multiline") {
		if len(text) > maxMatched {
			s.noted(fmt.Sprintf("matches over several lines were looked for in the first %d KB of each file", maxMatched>>10))
			text = text[:maxMatched]
		}
		n = s.spans(text, hit)
	} else {
		for i := range hit {
			if i&63 == 0 && s.ctx.Err() != nil {
				return context.Cause(s.ctx)
			}
			line := lines.line(i)
			if len(line) > maxMatched {
				s.noted(fmt.Sprintf("of long lines the first %d KB were searched", maxMatched>>10))
				line = line[:maxMatched]
			}
			if s.re.Match(line) {
				hit[i] = true
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	name := memdir.ShownName(p.String())
	switch s.mode {
	case "files":
		return s.line(name)
	case "count":
		return s.line(fmt.Sprintf("%s:%d", name, n))
	}
	return s.content(name, lines, hit)
}

// noted adds a note once.
func (s *search) noted(note string) {
	if !slices.Contains(s.notes, note) {
		s.notes = append(s.notes, note)
	}
}

// spans marks the lines that matches touch, and gives how many.
func (s *search) spans(text []byte, hit []bool) (n int) {
	line, at := 0, 0
	for _, m := range s.re.FindAllIndex(text, -1) {
		line += bytes.Count(text[at:m[0]], []byte("\n"))
		at = m[0]
		last := line + bytes.Count(text[m[0]:max(m[1]-1, m[0])], []byte("\n"))
		for i := line; i <= last && i < len(hit); i++ {
			if !hit[i] {
				hit[i] = true
				n++
			}
		}
	}
	return n
}

func (s *search) content(name string, lines lines, hit []bool) error {
	numbers := true
	if _, given := s.in["-n"]; given {
		numbers = s.in.yes("-n")
	}
	last := -1 // line that was shown last
	for i := range hit {
		if !hit[i] {
			continue
		}
		from := max(i-s.before, last+1)
		if (s.before > 0 || s.after > 0) && s.lines > 0 && from > last+1 {
			if err := s.line("--"); err != nil {
				return err
			}
		}
		for j := from; j <= min(i+s.after, len(hit)-1); j++ {
			if j > i && hit[j] {
				break
			}
			mark := "-"
			if hit[j] {
				mark = ":"
			}
			text := name + mark
			if numbers {
				text += fmt.Sprint(j+1) + mark
			}
			if err := s.line(text + shortened(string(lines.line(j)), maxLine/4)); err != nil {
				return err
			}
			last = j
		}
	}
	return nil
}

// line gives one line of output, or errEnough where there is no room.
func (s *search) line(text string) error {
	if s.most > 0 && s.lines == s.most {
		s.notes = append(s.notes, fmt.Sprintf("stopped at head_limit %d; there may be more", s.most))
		return errEnough
	}
	if s.out.Len()+len(text) >= maxGiven {
		s.notes = append(s.notes, fmt.Sprintf("stopped at %d KB of output; there is more", maxGiven>>10))
		return errEnough
	}
	s.lines++
	s.out.WriteString(text + "\n")
	return nil
}
