package sessionmem

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mem/core/memfile"
	"mem/core/settings"
	"mem/core/text"
)

// Part is one section of a summary as it stands.
type Part struct {
	Title string
	Body  string // what stands below the heading, without blank lines around it
	// Known says that it is one of the ten.
	Known bool
}

// Summary is a session memory, taken apart.
type Summary struct {
	Before string // what stands before the first section
	Parts  []Part
}

// Parse takes a summary apart. A heading of the first level, written with #, begins a
// section; one within a block of code does not. It never fails.
func Parse(content string) *Summary {
	content = strings.ReplaceAll(strings.TrimPrefix(content, "\ufeff"), "\r\n", "\n")
	t := text.New(content)
	s := &Summary{}
	from := 0
	flush := func(to int) {
		body := strings.Trim(content[from:to], "\n")
		if n := len(s.Parts); n > 0 {
			s.Parts[n-1].Body = body
		} else {
			s.Before = body
		}
	}
	for _, h := range memfile.OutlineOf(t, text.Span{End: len(content)}).Headings {
		if h.Level == 1 && strings.HasPrefix(strings.TrimLeft(content[h.Line.Start:h.Line.End], " "), "#") {
			flush(h.Line.Start)
			s.Parts = append(s.Parts, Part{Title: h.Text, Known: known(h.Text) >= 0})
			from = h.Line.End
		}
	}
	flush(len(content))
	return s
}

func known(title string) int {
	for i, s := range Sections {
		if strings.EqualFold(strings.TrimSpace(title), s.Title) {
			return i
		}
	}
	return -1
}

// Filled counts the sections of the ten that say something.
func (s *Summary) Filled() int {
	n := 0
	for _, p := range s.normal() {
		if p.Body != "" {
			n++
		}
	}
	return n
}

// normal gives the ten sections in their order. A section that stands twice is put
// together; text that belongs to none, and sections with other titles, go to the
// worklog's end, so that nothing is lost. The line that says what belongs into a section is
// none of its body.
func (s *Summary) normal() []Part {
	out := make([]Part, len(Sections))
	for i, sec := range Sections {
		out[i] = Part{Title: sec.Title, Known: true}
	}
	add := func(i int, body string) {
		switch {
		case body == "":
		case out[i].Body == "":
			out[i].Body = body
		default:
			out[i].Body += "\n\n" + body
		}
	}
	last := len(out) - 1
	for _, p := range s.Parts {
		if i := known(p.Title); i >= 0 {
			add(i, closed(strings.Trim(strings.TrimPrefix(p.Body, "_"+Sections[i].About+"_"), "\n")))
		}
	}
	add(last, closed(s.Before))
	for _, p := range s.Parts {
		if !p.Known && p.Title+p.Body != "" {
			add(last, strings.TrimRight("## "+p.Title+"\n"+closed(p.Body), "\n"))
		}
	}
	return out
}

// String writes the ten sections, each with the line that says what belongs there.
func (s *Summary) String() string {
	var b strings.Builder
	for i, p := range s.normal() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("# " + p.Title + "\n_" + Sections[i].About + "_\n")
		if p.Body != "" {
			b.WriteString(p.Body + "\n")
		}
	}
	return b.String()
}

// Over is a section, or with the Title "" the whole, that is larger than it may be.
type Over struct {
	Title  string `json:"section,omitempty"`
	Tokens int    `json:"tokens"` // estimated
	Limit  int    `json:"limit"`
}

func (o Over) String() string {
	what := "the whole summary"
	if o.Title != "" {
		what = "the section " + o.Title
	}
	return fmt.Sprintf("%s has about %d tokens; the limit is %d", what, o.Tokens, o.Limit)
}

// Check tells what is over its limit.
func (s *Summary) Check(c settings.SessionMemoryConfig) []Over {
	var out []Over
	total := 0
	for _, p := range s.normal() {
		n := Tokens(p.Body)
		total += n
		if n > c.SectionTokens {
			out = append(out, Over{p.Title, n, c.SectionTokens})
		}
	}
	if total > c.TotalTokens {
		out = append(out, Over{"", total, c.TotalTokens})
	}
	return out
}

// cutMark stands where a section was cut.
const cutMark = "[… cut: %d characters were over the limit of this section]"

// Cut makes a summary keep its limits: sections are cut, with a mark, and then the
// largest ones further until the whole fits. Of the worklog the newest lines are kept, of
// the others the first. It tells what it cut.
func (s *Summary) Cut(c settings.SessionMemoryConfig) (*Summary, []Over) {
	parts := s.normal()
	over := s.Check(c)
	if len(over) == 0 {
		return &Summary{Parts: parts}, nil
	}
	// The highest limit of a section at which the whole fits.
	limit, low := c.SectionTokens, 0
	if sum(parts, limit) > c.TotalTokens {
		for low < limit {
			mid := (low + limit + 1) / 2
			if sum(parts, mid) <= c.TotalTokens {
				low = mid
			} else {
				limit = mid - 1
			}
		}
	}
	for i := range parts {
		parts[i].Body = shorten(parts[i].Body, limit, i == len(parts)-1)
	}
	return &Summary{Parts: parts}, over
}

func sum(parts []Part, limit int) int {
	total := 0
	for _, p := range parts {
		total += min(Tokens(p.Body), limit)
	}
	return total
}

// shorten cuts a body to at most limit tokens, mark included: at line ends where that
// leaves more than half.
func shorten(body string, limit int, keepEnd bool) string {
	if Tokens(body) <= limit {
		return body
	}
	runes := []rune(body)
	for room := limit - Tokens(fmt.Sprintf(cutMark, len(runes))) - 1; room > 0; {
		n := fits(runes, room, keepEnd)
		var kept string
		if keepEnd {
			kept = string(runes[len(runes)-n:])
			if i := strings.IndexByte(kept, '\n'); i >= 0 && i < len(kept)/2 {
				kept = kept[i+1:]
			}
		} else {
			kept = string(runes[:n])
			if i := strings.LastIndexByte(kept, '\n'); i > len(kept)/2 {
				kept = kept[:i]
			}
		}
		mark := fmt.Sprintf(cutMark, len(runes)-utf8.RuneCountInString(kept))
		cut := closed(kept) + "\n" + mark
		if keepEnd {
			cut = mark + "\n" + closed(kept)
		}
		over := Tokens(cut) - limit
		if over <= 0 {
			return cut
		}
		room -= over
	}
	return ""
}

// fits gives how many runes of the beginning or the end have at most so many tokens.
func fits(runes []rune, tokens int, fromEnd bool) int {
	quarters := 0
	for n := range runes {
		r := runes[n]
		if fromEnd {
			r = runes[len(runes)-1-n]
		}
		if r < utf8.RuneSelf {
			quarters++
		} else {
			quarters += 4
		}
		if quarters > 4*tokens {
			return n
		}
	}
	return len(runes)
}

// closed makes a body end what it opened, so that the heading after it is one: a block of
// code, a comment, a block of HTML. Where nothing else does, all of it becomes code.
func closed(body string) string {
	if body == "" || ends(body) {
		return body
	}
	ends := func(last string) bool { return ends(body + "\n" + last) }
	for _, last := range []string{fenceOf(body), "-->", "?>", "]]>", ">", "</pre>", "</script>", "</style>", "</textarea>"} {
		if last != "" && ends(last) {
			return body + "\n" + last
		}
	}
	return "    " + strings.ReplaceAll(body, "\n", "\n    ")
}

// ends reports whether a heading after a body would be one, and no part of it.
func ends(body string) bool {
	const probe = "# Probe\n"
	t := text.New(body + "\n" + probe)
	all := memfile.OutlineOf(t, text.Span{End: len(body) + 1 + len(probe)}).Headings
	return len(all) > 0 && all[len(all)-1].Line.Start == len(body)+1
}

// fenceOf gives the last line that may have opened a block of code, as it closes one.
func fenceOf(body string) string {
	fence := ""
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimLeft(line, " ")
		for _, mark := range []string{"`", "~"} {
			if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
				fence = strings.Repeat(mark, n)
			}
		}
	}
	return fence
}
