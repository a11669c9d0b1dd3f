package memdir

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/memfile"
	"mem/core/text"
)

// Unit is what a size limit counts.
type Unit string

// The units that readers of an index count in.
const (
	Bytes Unit = "bytes"
	UTF16 Unit = "UTF-16 units"
)

// The limits of an index and of a scan, shared by the readers known.
const (
	MaxIndexLines  = 200   // seed 24.1; observed on Claude Code 2.1.332, 2026-11-30
	MaxIndexSize   = 25000 // seed 24.1 in bytes; the client in UTF-16 units
	MaxScanTopics  = 200   // seed 24.1: newest by mtime
	MaxScanLines   = 30    // seed 24.1: lines of a topic that a scan reads
	EntryLength    = 150   // seed: advised characters of one entry
	nearLimitShare = 70    // percent of a limit from which it is worth a word
)

// Rule says how much of an index one kind of reader loads.
type Rule struct {
	Name     string // "seed" or "client"
	Lines    int    // at most so many lines, blank ones included
	Size     int    // then at most so many units
	Unit     Unit
	Evidence string // where the numbers come from
}

// SeedRule counts bytes. The session-start context uses it: what fits in bytes
// fits in UTF-16 units too.
func SeedRule() Rule {
	return Rule{Name: "seed", Lines: MaxIndexLines, Size: MaxIndexSize, Unit: Bytes,
		Evidence: "seed 24.1: 200 lines, then 25,000 bytes, cut at the last newline"}
}

// ClientRule counts as Claude Code does.
func ClientRule() Rule {
	return Rule{Name: "client", Lines: MaxIndexLines, Size: MaxIndexSize, Unit: UTF16,
		Evidence: "Claude Code 2.1.332, observed 2026-11-30: 200 lines and 25,000 UTF-16 units"}
}

// Loaded is what a reader gets of an index, and what it does not get.
type Loaded struct {
	Text         string // what is loaded, cleaned and cut
	Lines        int    // lines loaded
	Size         int    // size loaded, in the rule's unit
	TotalLines   int    // lines there are after the clean-up
	TotalSize    int    // size there is after the clean-up, in the rule's unit
	Cut          bool
	CutBy        string // "lines" or "size", what cut first
	FirstDropped int    // line of the file (from 1) that is dropped first, wholly or in part; 0 when none
	Dropped      int    // lines dropped, a line cut in its middle counted
	Warning      string // what to tell the reader; "" when nothing was cut
}

// cleanIndex gives the lines that a reader sees, each with its line in the file
// (from 0): without BOM, leading frontmatter and block-level HTML comments,
// trimmed, "\n" endings, invalid bytes as U+FFFD. What stands beside a comment on
// its lines stays.
func cleanIndex(f *memfile.File, o memfile.Outline) (lines []string, origin []int) {
	t := f.Text
	start := 0
	if t.HasBOM() {
		start = len(text.BOM)
	}
	if f.Front != nil && f.Front.Closed {
		start = f.Body.Start
	}
	comments := o.Comments
	lines, origin = make([]string, 0, t.Lines()), make([]int, 0, t.Lines())
	for i := t.LineAt(start); i < t.Lines(); i++ {
		span := t.Line(i)
		if t.FullLine(i).End <= start {
			continue
		}
		span.Start = max(span.Start, start)
		for len(comments) > 0 && comments[0].End <= span.Start {
			comments = comments[1:]
		}
		l, ok := outside(t, span, comments)
		if !ok {
			continue
		}
		lines = append(lines, validUTF8(l))
		origin = append(origin, i)
	}
	for len(lines) > 0 && strings.TrimFunc(lines[0], isSpace) == "" {
		lines, origin = lines[1:], origin[1:]
	}
	for len(lines) > 0 && strings.TrimFunc(lines[len(lines)-1], isSpace) == "" {
		lines, origin = lines[:len(lines)-1], origin[:len(origin)-1]
	}
	if n := len(lines); n > 0 {
		lines[0] = strings.TrimLeftFunc(lines[0], isSpace)
		lines[n-1] = strings.TrimRightFunc(lines[n-1], isSpace)
	}
	return lines, origin
}

// outside gives the part of a line that no comment covers, and false where a
// comment leaves nothing but white space of it.
func outside(t *text.Text, line text.Span, comments []text.Span) (string, bool) {
	if len(comments) == 0 || comments[0].Start > line.End {
		return t.Slice(line), true
	}
	var kept strings.Builder
	at, covered := line.Start, false
	for i := 0; i < len(comments) && comments[i].Start <= line.End; i++ {
		kept.WriteString(t.String()[at:max(at, comments[i].Start)])
		at, covered = min(max(at, comments[i].End), line.End), true
	}
	kept.WriteString(t.String()[at:line.End])
	return kept.String(), !covered || strings.TrimFunc(kept.String(), isSpace) != ""
}

// isSpace is what JavaScript's trim takes off, since the client trims with it.
func isSpace(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' }

// validUTF8 puts one U+FFFD for each maximal piece of an invalid sequence, as the
// client's decoder (WHATWG) does.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = invalidPrefix(s)
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// invalidPrefix gives the length of the longest start of s that could have begun
// a character, at least 1.
func invalidPrefix(s string) int {
	n := 1
	for n < min(len(s), utf8.UTFMax-1) && !utf8.FullRuneInString(s[:n]) && !utf8.RuneStart(s[n]) {
		n++
	}
	// The last byte was taken before it was known to fit.
	for n > 1 && utf8.FullRuneInString(s[:n]) {
		n--
	}
	return n
}

// Load cuts an index as a reader under rule does: lines first, then size, at
// the last newline that fits, or at a rune boundary where there is none.
func Load(x *memfile.Index, rule Rule) Loaded {
	lines, origin := cleanIndex(x.File, x.Outline())
	return cut(lines, origin, rule)
}

// cut is Load of what cleanIndex gives.
func cut(lines []string, origin []int, rule Rule) Loaded {
	l := Loaded{TotalLines: len(lines), TotalSize: measure(lines, rule.Unit)}
	kept := lines
	if len(kept) > rule.Lines {
		kept = kept[:rule.Lines]
		l.Cut, l.CutBy = true, "lines"
	}
	keptText := strings.Join(kept, "\n")
	if measure(kept, rule.Unit) > rule.Size {
		keptText = cutSize(keptText, rule)
		if !l.Cut || lineCount(keptText) < rule.Lines {
			l.CutBy = "size"
		}
		l.Cut = true
	}
	l.Text = keptText
	l.Lines = lineCount(keptText)
	l.Size = sizeOf(keptText, rule.Unit)
	if l.Cut {
		first := l.Lines
		if first > 0 && first <= len(lines) && len(keptText) < len(strings.Join(lines[:first], "\n")) {
			first-- // the last loaded line is itself cut
		}
		l.FirstDropped = origin[min(first, len(origin)-1)] + 1
		l.Dropped = len(lines) - first
		l.Warning = cutWarning(l, rule)
	}
	return l
}

func cutWarning(l Loaded, rule Rule) string {
	return fmt.Sprintf("WARNING: the index has %d lines and %d %s; readers load at most %d lines and %d %s. "+
		"Line %d of MEMORY.md and what follows (%d lines) was NOT loaded. "+
		"Move details out of the index into topic files and keep one line of at most %d characters for each topic.",
		l.TotalLines, l.TotalSize, rule.Unit, rule.Lines, rule.Size, rule.Unit, l.FirstDropped, l.Dropped, EntryLength)
}

func cutSize(s string, rule Rule) string {
	limit := rule.Size
	if rule.Unit == UTF16 {
		limit = byteOffset(s, rule.Size)
	}
	// A newline that stands at the limit itself ends a line that fits.
	if i := strings.LastIndexByte(s[:min(limit+1, len(s))], '\n'); i > 0 {
		return s[:i]
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// byteOffset gives the offset of the rune that starts at or holds UTF-16 unit n.
func byteOffset(s string, n int) int {
	units := 0
	for i, r := range s {
		w := 1
		if r > 0xFFFF {
			w = 2
		}
		if units+w > n {
			return i
		}
		units += w
	}
	return len(s)
}

func lineCount(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

func sizeOf(s string, u Unit) int {
	if u == UTF16 {
		return text.UTF16Len(s)
	}
	return len(s)
}

func measure(lines []string, u Unit) int {
	n := max(len(lines)-1, 0)
	for _, l := range lines {
		n += sizeOf(l, u)
	}
	return n
}

// Fill tells how full an index is under a rule.
type Fill struct {
	Lines        int    `json:"lines"`
	MaxLines     int    `json:"maxLines"`
	Size         int    `json:"size"`
	MaxSize      int    `json:"maxSize"`
	Unit         Unit   `json:"unit"`
	Percent      int    `json:"percent"` // of the limit that is nearer
	FirstDropped int    `json:"firstDroppedLine,omitempty"`
	Dropped      int    `json:"droppedLines,omitempty"`
	Warning      string `json:"warning,omitempty"`
}

// FillOf gives how full the index is.
func FillOf(x *memfile.Index, rule Rule) Fill {
	lines, origin := cleanIndex(x.File, x.Outline())
	l := Loaded{TotalLines: len(lines), TotalSize: measure(lines, rule.Unit)}
	if len(lines) > rule.Lines || l.TotalSize > rule.Size {
		l = cut(lines, origin, rule)
	}
	f := Fill{Lines: l.TotalLines, MaxLines: rule.Lines, Size: l.TotalSize, MaxSize: rule.Size, Unit: rule.Unit,
		FirstDropped: l.FirstDropped, Dropped: l.Dropped, Warning: l.Warning}
	f.Percent = max(100*l.TotalLines/rule.Lines, 100*l.TotalSize/rule.Size)
	if f.Warning == "" && f.Percent >= nearLimitShare {
		f.Warning = fmt.Sprintf("The index is %d %% full (%d of %d lines, %d of %d %s). Readers cut what is past the limit: shorten entries or merge topics soon.",
			f.Percent, f.Lines, f.MaxLines, f.Size, f.MaxSize, f.Unit)
	}
	return f
}
