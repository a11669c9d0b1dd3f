package language

import (
	"strconv"
	"strings"
	"unicode"

	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// headingAt gives the heading that an anchor names. Anchors are compared without
// case, since people write them by hand; the first heading wins.
func headingAt(d *diagnostics.Doc, anchor string) (memfile.Heading, bool) {
	hs := d.Outline().Headings
	if anchor == "" || len(hs) == 0 {
		return memfile.Heading{}, false
	}
	want := strings.ToLower(anchor)
	slugs := slugsOf(hs)
	for i := range hs {
		if slugs[i] == want {
			return hs[i], true
		}
	}
	want = slug(anchor) // "[[name#The heading]]" names it by its words
	for i := range hs {
		if slugs[i] == want {
			return hs[i], true
		}
	}
	return memfile.Heading{}, false
}

// sectionEnd gives where the section of a heading ends, with the headings below it.
func sectionEnd(d *diagnostics.Doc, h memfile.Heading) int {
	end := h.Section.End
	for _, next := range d.Outline().Headings {
		if next.Line.Start < end {
			continue
		}
		if next.Level <= h.Level {
			break
		}
		end = next.Section.End
	}
	return end
}

// slugsOf gives the anchor of each heading, as GitHub makes them: a heading whose
// words were there before gets a number.
func slugsOf(hs []memfile.Heading) []string {
	seen := map[string]int{}
	slugs := make([]string, len(hs))
	for i, h := range hs {
		base := slug(shownText(h.Text))
		s := base
		for n, taken := seen[base]; taken; _, taken = seen[s] {
			n++
			s = base + "-" + strconv.Itoa(n)
			seen[base] = n
		}
		seen[s] = 0
		slugs[i] = s
	}
	return slugs
}

// slug gives words as an anchor: letters, digits, "-" and "_" are kept, in lower
// case, and each space becomes "-".
func slug(words string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), unicode.Is(unicode.Pc, r), unicode.Is(unicode.Nl, r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(words))
}

// shownText gives the words of a heading as a reader sees them: of a link only its
// text.
func shownText(heading string) string {
	if !strings.Contains(heading, "](") {
		return heading
	}
	t := text.New(heading)
	var b strings.Builder
	at := 0
	for _, l := range memfile.Links(t, text.Span{End: t.Len()}, memfile.Outline{}) {
		if l.Wiki || l.Span.Start < at {
			continue
		}
		b.WriteString(heading[at:l.Span.Start])
		b.WriteString(t.Slice(l.Text))
		at = l.Span.End
	}
	b.WriteString(heading[at:])
	return b.String()
}
