package memfile

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"mem/core/text"
)

// Heading is one heading of the body with the section it opens.
type Heading struct {
	Level   int       // 1 to 6
	Text    string    // without marks
	Line    text.Span // its line or lines, line ending included
	Section text.Span // from its line to the next heading of any level
}

// Outline is the block structure of a body: headings, and the regions in which
// nothing is a link or a heading. The spans of each list are sorted and do not
// overlap.
type Outline struct {
	Headings []Heading
	Code     []text.Span // fenced and indented code, code spans
	Comments []text.Span // closed HTML comments that stand as blocks at the top level
	Hidden   []text.Span // other HTML comments: inside lines, lists and quotes
}

// Outline parses the body's block structure. Its cost is linear in the body.
func (f *File) Outline() Outline { return OutlineOf(f.Text, f.Body) }

// OutlineOf parses the block structure of one part of a document.
func OutlineOf(t *text.Text, part text.Span) Outline {
	if o, ok := plainOutline(t, part); ok {
		return o
	}
	return outlineByBlocks(t, part)
}

// outlineByBlocks has goldmark find the blocks.
//
// goldmark reads the blocks only: its inline parser takes quadratic time on
// "[](" repeated, and so do its blocks on deep nesting, hence tooDeep.
func outlineByBlocks(t *text.Text, part text.Span) Outline {
	src := []byte(t.Slice(part))
	if tooDeep(src) {
		return outlineByLine(t, part)
	}
	b := builder{t: t, part: part, src: src}
	// The walker's function never fails, so neither does the walk.
	_ = ast.Walk(blocks.Parse(gtext.NewReader(src)), b.visit)
	b.o.endSections(part.End)
	return b.o
}

var blocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// builder gathers an Outline from goldmark's blocks.
type builder struct {
	t    *text.Text
	part text.Span
	src  []byte
	o    Outline
}

func (b *builder) abs(from, to int) text.Span {
	return text.Span{Start: b.part.Start + from, End: b.part.Start + to}
}

func (b *builder) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		b.heading(n)
		b.inline(n)
		return ast.WalkSkipChildren, nil
	case *ast.Paragraph, *ast.TextBlock:
		b.inline(n)
		return ast.WalkSkipChildren, nil
	case *ast.FencedCodeBlock:
		b.fenced(n)
		return ast.WalkSkipChildren, nil
	case *ast.CodeBlock:
		if l := n.Lines(); l.Len() > 0 {
			b.o.Code = append(b.o.Code, b.abs(l.At(0).Start, l.At(l.Len()-1).Stop))
		}
		return ast.WalkSkipChildren, nil
	case *ast.HTMLBlock:
		b.html(n)
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}

// heading records a heading at the top level; those inside lists and quotes
// open no section.
func (b *builder) heading(n *ast.Heading) {
	lines := n.Lines()
	if lines.Len() == 0 || n.Parent() == nil || n.Parent().Kind() != ast.KindDocument {
		return
	}
	first := b.t.LineAt(b.part.Start + lines.At(0).Start)
	last := first
	var words []string
	for i := range lines.Len() {
		seg := lines.At(i)
		words = append(words, strings.TrimSpace(string(seg.Value(b.src))))
		last = b.t.LineAt(b.part.Start + max(seg.Stop-1, seg.Start))
	}
	if !atxHeading().MatchString(lineText(b.t, first)) {
		last++ // the line of "=" or "-" below the text
	}
	line := text.Span{Start: b.t.FullLine(first).Start, End: b.t.FullLine(last).End}
	if first == 0 && b.t.HasBOM() {
		line.Start = max(line.Start, b.part.Start)
	}
	b.o.Headings = append(b.o.Headings, Heading{Level: n.Level, Text: strings.Join(words, " "), Line: line})
}

var atxHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]|$)`) })

// fenced records the text of a fenced block and the words behind its opening
// fence.
func (b *builder) fenced(n *ast.FencedCodeBlock) {
	if n.Info != nil {
		b.o.Code = append(b.o.Code, b.abs(n.Info.Segment.Start, n.Info.Segment.Stop))
	}
	if l := n.Lines(); l.Len() > 0 {
		b.o.Code = append(b.o.Code, b.abs(l.At(0).Start, l.At(l.Len()-1).Stop))
	}
}

// html records the comments of an HTML block. Text behind a comment on its last
// line and a comment that is never closed hide nothing: readers see them.
func (b *builder) html(n *ast.HTMLBlock) {
	l := n.Lines()
	if l.Len() == 0 {
		return
	}
	end := l.At(l.Len() - 1).Stop
	if n.HasClosure() {
		end = max(end, n.ClosureLine.Stop)
	}
	into := &b.o.Hidden
	if n.HTMLBlockType == ast.HTMLBlockType2 && n.Parent().Kind() == ast.KindDocument {
		into = &b.o.Comments
	}
	*into = append(*into, comments(b.t.String(), b.abs(l.At(0).Start, end))...)
}

// comments gives the closed HTML comments in a region.
func comments(src string, in text.Span) []text.Span {
	var spans []text.Span
	for at := in.Start; ; {
		i := strings.Index(src[at:in.End], "<!--")
		if i < 0 {
			return spans
		}
		start := at + i
		j := strings.Index(src[start+4:in.End], "-->")
		if j < 0 {
			return spans
		}
		at = start + 4 + j + 3
		spans = append(spans, text.Span{Start: start, End: at})
	}
}

// inline finds code spans and comments in the lines of one paragraph, heading or
// table. The earlier of two that overlap wins.
func (b *builder) inline(n ast.Node) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return
	}
	in := b.abs(lines.At(0).Start, lines.At(lines.Len()-1).Stop)
	b.o.inline(b.t.String(), in)
}

func (o *Outline) inline(src string, in text.Span) {
	noComment := false
	var runs tickRuns
	for i := in.Start; i < in.End; {
		next := strings.IndexAny(src[i:in.End], "`<\\")
		if next < 0 {
			return
		}
		i += next
		switch src[i] {
		case '\\':
			i += 2
		case '<':
			j := -1
			if !noComment && strings.HasPrefix(src[i:in.End], "<!--") {
				j = strings.Index(src[i+4:in.End], "-->")
				noComment = j < 0
			}
			if j < 0 {
				i++
				continue
			}
			end := i + 4 + j + 3
			o.Hidden = append(o.Hidden, text.Span{Start: i, End: end})
			i = end
		case '`':
			if runs == nil {
				runs = tickRunsOf(src[:in.End], i)
			}
			n := runOf(src[i:in.End])
			closing := runs.next(n, i+n)
			if closing < 0 {
				i += n
				continue
			}
			o.Code = append(o.Code, text.Span{Start: i, End: closing + n})
			i = closing + n
		}
	}
}

// runOf counts the backticks at the start of s.
func runOf(s string) int {
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	return n
}

// tickRuns holds the offsets of the runs of backticks by their length, so that
// finding the end of a code span does not search the text again for each start.
type tickRuns map[int][]int

func tickRunsOf(src string, from int) tickRuns {
	runs := tickRuns{}
	for {
		i := strings.IndexByte(src[from:], '`')
		if i < 0 {
			return runs
		}
		from += i
		n := runOf(src[from:])
		runs[n] = append(runs[n], from)
		from += n
	}
}

// next gives the offset of the first run of exactly n backticks at or after
// from, or -1. Calls come with growing offsets.
func (r tickRuns) next(n, from int) int {
	for len(r[n]) > 0 && r[n][0] < from {
		r[n] = r[n][1:]
	}
	if len(r[n]) == 0 {
		return -1
	}
	return r[n][0]
}

func (o *Outline) endSections(end int) {
	for i := range o.Headings {
		h := &o.Headings[i]
		h.Section = text.Span{Start: h.Line.Start, End: end}
		if i+1 < len(o.Headings) {
			h.Section.End = o.Headings[i+1].Line.Start
		}
	}
}

// In reports whether offset lies in one of the sorted spans.
func In(spans []text.Span, offset int) bool {
	lo, hi := 0, len(spans)
	for lo < hi {
		mid := (lo + hi) / 2
		switch {
		case offset < spans[mid].Start:
			hi = mid
		case offset >= spans[mid].End:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}
