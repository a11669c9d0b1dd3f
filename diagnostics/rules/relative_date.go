package rules

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func relativeDate() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "relative-date",
		Severity: diagnostics.Information,
		Summary:  "A date counts from a day that the reader does not know.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic, diagnostics.Index},
		Fixes:    []string{fixes.AbsoluteDate},
		Evidence: []diagnostics.Evidence{
			{Claim: "relative dates are to be written as absolute ones, so that a memory can be understood later", Source: "seed", Checked: "2026-11-30"},
			{Claim: "158 relative dates stand in real topics", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
			{Claim: "the client writes the time of the last change as modified into the frontmatter", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			if p.Doc.Kind == diagnostics.Topic && repositoryOwn(p) {
				return // its file's time is that of a checkout
			}
			f := p.Doc.File
			var found []dated
			// Of the frontmatter only the description is prose, and it is read most.
			if k := f.Key("description"); k != nil && p.Doc.Kind == diagnostics.Topic {
				found = findDated(p.Doc.Source(), k.Raw, found)
			}
			inFront := len(found)
			found = findDated(p.Doc.Source(), f.Body, found)
			if len(found) == 0 {
				return
			}
			base, source := dayOf(p.Doc)
			if p.Doc.Kind == diagnostics.Index {
				base, source = time.Time{}, "an index is written again and again"
			}
			for i, d := range found {
				if i >= inFront && (memfile.In(p.Doc.Outline().Code, d.span.Start) || inDatedSection(p.Doc, d.span.Start) ||
					inQuotation(p.Doc.Source(), d.span) || inIndexLink(p.Doc, d.span.Start)) {
					continue
				}
				if i < inFront && fixes.OfOtherWords(p.Doc) || i >= inFront && fromIndex(p.Doc, d.span.Start) {
					p.Report(d.finding(f.Text, time.Time{}, "the text came from the index"))
					continue
				}
				p.Report(d.finding(f.Text, base, source))
			}
		},
	}
}

// dayOf gives the day that a file's relative dates count from, and where it is from.
// Whoever writes "today" means the day at the place where they are, so a stamp in UTC
// is taken to the zone that the times of files are given in.
func dayOf(d *diagnostics.Doc) (time.Time, string) {
	if modified := d.File.Value("modified"); modified != "" {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
			at, err := time.ParseInLocation(layout, modified, d.ModTime.Location())
			if err == nil {
				return at.In(d.ModTime.Location()), "its modified stamp"
			}
		}
	}
	if d.ModTime.IsZero() {
		return d.ModTime, "the file has no time"
	}
	return d.ModTime, "the file's time, which a git checkout sets anew"
}

// fromIndex reports whether a fix has put the text at an offset there: the index knows
// no day that its text was written on, and the file's time is not that of the text.
func fromIndex(d *diagnostics.Doc, offset int) bool {
	h := headingAbove(d, offset)
	return h != nil && h.Text == fixes.DetailsHeading || fixes.OfOtherWords(d)
}

// inIndexLink reports whether an offset lies in a link of an index: its words are a
// title, and its target the name of a file.
func inIndexLink(d *diagnostics.Doc, offset int) bool {
	if d.Kind != diagnostics.Index {
		return false
	}
	links := d.Links()
	i := sort.Search(len(links), func(i int) bool { return links[i].Span.Start > offset }) - 1
	return i >= 0 && offset < links[i].Span.End
}

// inDatedSection reports whether the heading above an offset has a date in it: then
// the reader knows what to count from.
func inDatedSection(d *diagnostics.Doc, offset int) bool {
	h := headingAbove(d, offset)
	return h != nil && hasDate(h.Text)
}

// headingAbove gives the last heading at or before an offset, nil where there is none.
func headingAbove(d *diagnostics.Doc, offset int) *memfile.Heading {
	all := d.Outline().Headings
	lo, hi := 0, len(all)
	for lo < hi {
		if m := (lo + hi) / 2; all[m].Line.Start <= offset {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return nil
	}
	return &all[lo-1]
}

// hasDate reports whether a day stands in s in figures: 2026-11-30, 2026/11/30,
// 2026.11.30 or 2026年11月30日.
func hasDate(s string) bool {
	for i := 0; i+8 <= len(s); i++ {
		if dateAt(s[i:]) > 0 {
			return true
		}
	}
	return false
}

// dateAt gives the length of the day that s begins with, 0 where it begins with none.
func dateAt(s string) int {
	n := digits(s)
	if n != 4 {
		return 0
	}
	for range 2 {
		rest := s[n:]
		switch {
		case strings.HasPrefix(rest, "年"), strings.HasPrefix(rest, "月"):
			n += len("年")
		case rest != "" && strings.IndexByte("-/.", rest[0]) >= 0:
			n++
		default:
			return 0
		}
		d := digits(s[n:])
		if d == 0 || d > 2 {
			return 0
		}
		n += d
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// unit is what a phrase counts in.
type unit int

const (
	day unit = iota
	week
	month
	year
)

// dated is one phrase that means a day, a week, a month or a year by its distance
// from the day on which it was written.
type dated struct {
	span    text.Span
	unit    unit
	n       int          // units from then
	weekday time.Weekday // with onDay
	onDay   bool         // that day of the week, of the week n weeks from then
	part    string       // of the day: "morning", "晚上"
	chinese bool
	lead    string // what has to stand before it: "in ", "on "; "" where nothing
	loose   bool   // "next Friday" said on a Monday: this week's, or the next one's
}

// says gives what the phrase means, best first: one, or two where people differ.
func (d dated) says(base time.Time) []string {
	then := time.Date(base.Year(), base.Month(), base.Day(), 12, 0, 0, 0, time.UTC)
	sinceMonday := (int(then.Weekday()) + 6) % 7
	monday := then.AddDate(0, 0, -sinceMonday)
	switch {
	case d.onDay:
		offset := (int(d.weekday) + 6) % 7
		sure := monday.AddDate(0, 0, 7*d.n+offset)
		if !d.loose {
			return []string{sure.Format(time.DateOnly)}
		}
		return nearOrFar(then, sure, d.n)
	case d.unit == day:
		return []string{then.AddDate(0, 0, d.n).Format(time.DateOnly)}
	case d.unit == week:
		return []string{monday.AddDate(0, 0, 7*d.n).Format(time.DateOnly)}
	case d.unit == month:
		return []string{time.Date(then.Year(), then.Month()+time.Month(d.n), 1, 12, 0, 0, 0, time.UTC).Format("2006-01")}
	}
	return []string{fmt.Sprintf("%04d", then.Year()+d.n)}
}

// nearOrFar gives the days that "next Friday" (n is 1) or "last Friday" (n is -1) may
// mean. far is that of the next or the last week; where this week has one in the same
// direction many people mean that, unless it is so near that they would have called it
// by another name.
func nearOrFar(then, far time.Time, n int) []string {
	near := far.AddDate(0, 0, -7*n)
	away := int(near.Sub(then).Hours()/24) * n
	days := []string{near.Format(time.DateOnly), far.Format(time.DateOnly)}
	switch {
	case away <= 0:
		return days[1:]
	case away <= 2:
		days[0], days[1] = days[1], days[0]
	}
	return days
}

// written gives how a date stands in the sentence.
func (d dated) written(date, before string) string {
	s := date
	switch {
	case d.chinese && d.unit == week && !d.onDay:
		s += " 那一周"
	case d.chinese && d.unit == year:
		s += " 年"
	case d.chinese && d.part != "":
		s += " " + d.part
	case d.chinese:
	case d.part != "":
		s = "the " + d.part + " of " + s
	case d.unit == week && !d.onDay:
		s = "the week of " + s
	}
	s = d.lead + s
	if c := before[0]; d.lead == "" && 'A' <= c && c <= 'Z' {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

func (d dated) finding(t *text.Text, base time.Time, source string) diagnostics.Finding {
	phrase := t.Slice(d.span)
	f := diagnostics.Finding{Span: d.span}
	phrase = memfile.OneLine(phrase)
	quoted := "“" + memdir.Shown(phrase, 40) + "”"
	if base.IsZero() {
		f.Message = fmt.Sprintf("%s counts from a day that is not known, since %s. Write the date, where you know it.", quoted, source)
		return f
	}
	says := d.says(base)
	var written []string
	for _, date := range says {
		s := d.spaced(t.String(), d.written(date, phrase))
		written = append(written, d.written(date, "x"))
		f.Offers = append(f.Offers, diagnostics.Offer{Fix: fixes.AbsoluteDate, Arg: s,
			Title: fmt.Sprintf(`Replace "%s" with "%s"`, memdir.Shown(phrase, 40), strings.TrimSpace(s))})
	}
	for i := range written {
		written[i] = strings.TrimPrefix(written[i], d.lead)
	}
	f.Message = fmt.Sprintf("%s counts from a day that the reader does not know. From %s, %s, it is %s: write that.",
		quoted, base.Format(time.DateOnly), source, strings.Join(written, " or "))
	return f
}

// spaced puts white space between the figures of a date and what stands beside it, in
// text that is written without.
func (d dated) spaced(src, s string) string {
	if !d.chinese {
		return s
	}
	if d.span.Start > 0 && isAlnum(src[d.span.Start-1]) {
		s = " " + s
	}
	if d.span.End < len(src) && isAlnum(src[d.span.End]) {
		s += " "
	}
	return s
}

func isAlnum(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
