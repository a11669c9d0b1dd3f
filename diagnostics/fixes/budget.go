package fixes

import (
	"strings"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// amount is an amount of an index, in what its limits count.
type amount struct{ lines, size int }

func (a amount) plus(b amount) amount  { return amount{a.lines + b.lines, a.size + b.size} }
func (a amount) minus(b amount) amount { return amount{a.lines - b.lines, a.size - b.size} }

// budget is what an index takes of what its strictest reader loads.
type budget struct {
	rule    memdir.Rule
	total   amount
	dropped int      // the first line, from 0, that is not loaded; -1 where all are
	before  []amount // see sums
	// summary is the size of a summary that fills its line, in characters as this
	// index has them.
	summary int
}

func budgetOf(x *memfile.Index, c *diagnostics.Config) budget {
	rule := c.IndexRules()[0]
	l := memdir.Load(x, rule)
	characters := utf8.RuneCountInString(x.Text().String()) + 1
	summary := c.Limits.EntryLength * (1 + (l.TotalSize+characters-1)/characters)
	return budget{rule, amount{l.TotalLines, l.TotalSize}, l.FirstDropped - 1, sums(x, rule.Unit), summary}
}

// fits reports whether an amount is at most so many percent of the limits.
func (b budget) fits(a amount, percent int) bool {
	return 100*a.lines <= percent*b.rule.Lines && 100*a.size <= percent*b.rule.Size
}

// helps reports whether taking gain away from left brings nearer what
// shortenedPercent asks for.
func (b budget) helps(left, gain amount) bool {
	return 100*left.lines > shortenedPercent*b.rule.Lines && gain.lines > 0 || 100*left.size > shortenedPercent*b.rule.Size && gain.size > 0
}

// entry gives what one more entry with this title costs at most: title and path,
// and what stands around them.
func (b budget) entry(title string) amount { return amount{1, 2*len(title) + 24 + b.summary} }

func sizeIn(s string, unit memdir.Unit) int {
	if unit == memdir.UTF16 {
		return text.UTF16Len(s)
	}
	return len(s)
}

// sums gives for each line of the index what stands before it, in what limits
// count: frontmatter, lines inside of comments and blank lines at both ends are not
// loaded. It has one element more than there are lines.
func sums(x *memfile.Index, unit memdir.Unit) []amount {
	t, comments := x.Text(), x.Outline().Comments
	out := make([]amount, t.Lines()+1)
	start := 0
	if f := x.File; f.Front != nil && f.Front.Closed {
		start = f.Body.Start
	}
	var now, content amount // up to the last line with text
	for i := range t.Lines() {
		out[i] = now
		line := t.Line(i)
		l := t.Slice(line)
		trimmed := strings.TrimLeft(l, " \t")
		blank := trimmed == "" || trimmed == text.BOM
		if line.Start < start || blank && now == (amount{}) || memfile.In(comments, line.Start+len(l)-len(trimmed)) {
			continue
		}
		now = now.plus(amount{1, sizeIn(l, unit) + 1})
		if !blank {
			content = now
		}
	}
	for i := len(out) - 1; i >= 0 && (i == len(out)-1 || out[i].lines > content.lines); i-- {
		out[i] = content
	}
	return out
}

// OverfullOffers gives what can be done about an index that is not loaded whole,
// best first.
func OverfullOffers(d *diagnostics.Doc, c *diagnostics.Config) []diagnostics.Offer {
	b := budgetOf(d.Index, c)
	out := shortenOffers(d.Index, c, b)
	for _, sec := range sectionsToMove(d.Index, b) {
		out = append(out, sec.offer())
	}
	return out
}
