package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

// indexEvidence is where the limits of an index come from.
var indexEvidence = []diagnostics.Evidence{
	{Claim: "at most 200 lines are loaded, then at most 25,000 bytes, cut at the last newline that fits", Source: "seed 24.1", Checked: "2026-11-30"},
	{Claim: "at most 200 lines, blank ones included, and of these 25,000 UTF-16 units are loaded", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
}

// small reports whether an index is below so many percent of every limit, at the
// cost of a look at its length: its bytes are at least what any reader counts.
func small(p *diagnostics.Pass, percent int) bool {
	t, l := p.Doc.File.Text, p.Config.Limits
	return 100*t.Len() < percent*l.IndexSize && 100*t.Lines() < percent*l.IndexLines
}

// dropped gives the part of the index that a reader does not load, and its first
// line. The part starts inside that line where the line itself is cut.
func dropped(p *diagnostics.Pass, l memdir.Loaded) (region, line text.Span) {
	t := p.Doc.File.Text
	line = t.Line(l.FirstDropped - 1)
	region = text.Span{Start: line.Start, End: len(strings.TrimRight(t.String(), " \t\r\n"))}
	if inPart(l) {
		if i := strings.Index(t.Slice(line), l.Text); i >= 0 && l.Text != "" && len(l.Text) < line.Len() {
			region.Start += i + len(l.Text)
		}
	}
	region.End = max(region.End, region.Start)
	return region, line
}

// reportDropped reports the part of the index that is not loaded.
func reportDropped(p *diagnostics.Pass, l memdir.Loaded, severity diagnostics.Severity, message string) {
	region, line := dropped(p, l)
	first := "This is the first line that is not loaded."
	if inPart(l) {
		first = "Of this line only a part is loaded."
	}
	offers := fixes.OverfullOffers(p.Doc, p.Config)
	offered := func(fix string) bool {
		return slices.ContainsFunc(offers, func(o diagnostics.Offer) bool { return o.Fix == fix })
	}
	switch details, section := offered(fixes.ShortenIndex), offered(fixes.MoveSection); {
	case details && section:
		message += " Move details of entries into their topics, or a section into a topic of its own."
	case details:
		message += " Move details of entries into their topics."
	case section:
		message += " Move a section into a topic of its own."
	default:
		message += " Shorten it."
	}
	p.Report(diagnostics.Finding{
		Severity:    severity,
		Span:        region,
		Message:     message,
		Unnecessary: true,
		Related:     []diagnostics.Related{{Path: p.Doc.Path, Span: line, Message: first}},
		Offers:      offers,
	})
}

// inPart reports whether all that is loaded is a part of one line that is longer
// than the limit: elsewhere readers cut between lines.
func inPart(l memdir.Loaded) bool { return l.Lines == 1 && l.Dropped == l.TotalLines }

// unseen says in words which lines are not loaded.
func unseen(l memdir.Loaded) string {
	switch {
	case inPart(l):
		return fmt.Sprintf("only a part of line %d, and nothing of what follows", l.FirstDropped)
	case l.Dropped == 1:
		return fmt.Sprintf("and never see line %d", l.FirstDropped)
	}
	return fmt.Sprintf("and never see line %d and what follows (%s lines)", l.FirstDropped, thousands(l.Dropped))
}

// thousands writes a number as people read it.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
