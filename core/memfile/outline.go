package memfile

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
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
// nothing is a link or a heading.
type Outline struct {
	Headings []Heading
	Code     []text.Span // fenced and indented code, code spans
	Comments []text.Span // block-level HTML comments, whole lines
}

// Outline parses the body's block structure. Its cost is linear in the body.
func (f *File) Outline() Outline { return OutlineOf(f.Text, f.Body) }

// OutlineOf parses the block structure of one part of a document.
func OutlineOf(t *text.Text, part text.Span) Outline {
	src := []byte(t.Slice(part))
	doc := goldmark.DefaultParser().Parse(gtext.NewReader(src))
	var o Outline
	abs := func(a, b int) text.Span { return text.Span{Start: part.Start + a, End: part.Start + b} }
	// The walker's function never fails, so neither does the walk.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Lines().Len() > 0 && topLevel(n) {
				first, last := n.Lines().At(0), n.Lines().At(n.Lines().Len()-1)
				line := wholeLines(t, abs(first.Start, max(last.Stop, first.Start)))
				if isSetext(t, line) {
					line = t.FullLine(min(t.LineAt(line.Start)+n.Lines().Len(), t.Lines()-1))
					line.Start = wholeLines(t, abs(first.Start, first.Start)).Start
				}
				o.Headings = append(o.Headings, Heading{Level: n.Level, Text: headingText(src, n), Line: line})
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if l := n.Lines(); l.Len() > 0 {
				o.Code = append(o.Code, abs(l.At(0).Start, l.At(l.Len()-1).Stop))
			}
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			if c, ok := n.FirstChild().(*ast.Text); ok {
				last, _ := n.LastChild().(*ast.Text)
				o.Code = append(o.Code, abs(c.Segment.Start, last.Segment.Stop))
			}
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			if l := n.Lines(); n.HTMLBlockType == ast.HTMLBlockType2 && l.Len() > 0 {
				end := l.At(l.Len() - 1).Stop
				if n.HasClosure() {
					end = max(end, n.ClosureLine.Stop)
				}
				o.Comments = append(o.Comments, abs(l.At(0).Start, end))
			}
		}
		return ast.WalkContinue, nil
	})
	for i := range o.Headings {
		end := part.End
		if i+1 < len(o.Headings) {
			end = o.Headings[i+1].Line.Start
		}
		o.Headings[i].Section = text.Span{Start: o.Headings[i].Line.Start, End: end}
	}
	return o
}

// topLevel keeps headings inside lists and quotes from opening sections.
func topLevel(n ast.Node) bool { return n.Parent() != nil && n.Parent().Kind() == ast.KindDocument }

func wholeLines(t *text.Text, s text.Span) text.Span {
	return text.Span{Start: t.FullLine(t.LineAt(s.Start)).Start, End: t.FullLine(t.LineAt(max(s.End-1, s.Start))).End}
}

func isSetext(t *text.Text, line text.Span) bool {
	return !strings.HasPrefix(strings.TrimLeft(t.Slice(line), " \ufeff"), "#")
}

func headingText(src []byte, n *ast.Heading) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	return strings.TrimSpace(b.String())
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
