package fixes

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// DetailsHeading is what details of the index stand below in a topic.
const DetailsHeading = "Details from the index"

// topicTexts gathers what topics become that take details of entries.
type topicTexts struct {
	s     *diagnostics.Snapshot
	order []string
	base  map[string]string // of topics that exist
	now   map[string]string
}

func newTopicTexts(s *diagnostics.Snapshot) *topicTexts {
	return &topicTexts{s: s, base: map[string]string{}, now: map[string]string{}}
}

// take puts what an entry said into its topic, or into a new one where there is
// none.
func (tt *topicTexts) take(e memfile.Entry, c cut) error {
	p := e.Target
	now, seen := tt.now[p]
	if !seen {
		if err := memdir.CheckTopicPath(p); err != nil {
			return err
		}
		if err := tt.s.View.CheckPlace(p); err != nil {
			return err
		}
		switch b, err := tt.s.View.LoadPath(p); {
		case err == nil:
			now = b.File.Text.String()
			tt.base[p] = now
		case errors.Is(err, fs.ErrNotExist):
			created, err := tt.create(e, c)
			if err != nil {
				return err
			}
			tt.now[p], tt.order = created, append(tt.order, p)
			return nil
		default:
			return err
		}
	}
	after, err := withDetails(now, relinkedAll(c.rest, p))
	if err != nil {
		return fmt.Errorf("%s %w", memdir.ShownName(p), err)
	}
	if !seen {
		tt.order = append(tt.order, p)
	}
	tt.now[p] = after
	return nil
}

func relinkedAll(parts []string, to string) []string {
	out := make([]string, len(parts))
	for i, s := range parts {
		out[i] = relinked(s, to)
	}
	return out
}

// create gives the text of a topic that an entry leads to and that does not exist.
func (tt *topicTexts) create(e memfile.Entry, c cut) (string, error) {
	name := memdir.Slug(memdir.Stem(e.Target))
	if name == "" {
		name = memdir.Slug(e.Title)
	}
	description := plainText(c.summary)
	if description == "" {
		description = plainText(e.Title)
	}
	if description == "" {
		description = name
	}
	body := strings.Join(relinkedAll(c.whole, e.Target), "\n\n")
	return newTopic(tt.s, e.Target, memdir.Memory{Name: name, Description: description, Body: body + movedNote(tt.s),
		Type: GuessType(memdir.Stem(e.Target), e.Title+" "+c.summary, body)})
}

// newTopic gives the text of a new topic, in the form that topics of the directory
// have.
func newTopic(s *diagnostics.Snapshot, p string, m memdir.Memory) (string, error) {
	c, err := s.View.CreateAlone(p, m, s.Stamp)
	if err != nil {
		return "", err
	}
	return c.Files[0].New, nil
}

// files gives the changes of the topics.
func (tt *topicTexts) files() []change.File {
	var out []change.File
	for _, p := range tt.order {
		base, exists := tt.base[p]
		if !exists {
			out = append(out, change.File{Path: p, Kind: change.Create, New: tt.now[p]})
			continue
		}
		if f, ok := change.EditFile(p, base, claimed(base, text.Diff(base, tt.now[p]))); ok {
			out = append(out, f)
		}
	}
	return out
}

// claimed widens insertions by the character before them. Two changes that both
// add the heading for details overlap then, so that the second is computed anew
// when the first is made.
func claimed(src string, edits []text.Edit) []text.Edit {
	for i := range edits {
		if e := &edits[i]; e.Len() == 0 && e.Start > 0 {
			_, n := utf8.DecodeLastRuneInString(src[:e.Start])
			if strings.HasSuffix(src[:e.Start], "\r\n") {
				n = 2
			}
			e.Start -= n
			e.New = src[e.Start:e.End] + e.New
		}
	}
	return edits
}

// withDetails gives a topic with paragraphs added below the heading for details:
// only those that it does not say yet.
func withDetails(src string, parts []string) (string, error) {
	f := memfile.Parse(src)
	if f.Front != nil && !f.Front.Closed {
		return "", errors.New(`has frontmatter without a closing "---" line: close it first`)
	}
	body, description := memfile.OneLine(f.BodyText()), memfile.OneLine(f.Value("description"))
	var fresh []string
	for _, part := range parts {
		said := memfile.OneLine(part)
		if said != "" && !says(body, said) && !says(description, said) {
			fresh = append(fresh, part)
			body += " " + said
		}
	}
	if len(fresh) == 0 {
		return src, nil
	}
	eol := f.Text.EOL()
	at, block := f.Body.End, text.WithEOL(strings.Join(fresh, "\n\n"), eol)
	heads := f.Outline().Headings
	found := false
	for i, h := range heads {
		if found = h.Text == DetailsHeading; !found {
			continue
		}
		for _, next := range heads[i+1:] {
			if next.Level <= h.Level {
				at = next.Line.Start
				break
			}
		}
		break
	}
	if !found {
		block = "## " + DetailsHeading + eol + eol + block
	}
	head, tail := src[:at], src[at:] // all of it stays, be it the space behind an empty "**Why:** "
	switch {
	case strings.TrimPrefix(head, text.BOM) == "" || endsBlank(head):
	case strings.HasSuffix(head, "\n"):
		head += eol
	default:
		head += eol + eol
	}
	switch {
	case tail != "": // another section follows, behind a blank line
		block += eol + eol
	case src == "" || strings.HasSuffix(src, "\n"):
		block += eol
	}
	after := head + block + tail
	if !found && !hasHeading(after) {
		return "", errors.New("ends inside code or a comment that is never closed: close it first")
	}
	return after, nil
}

// endsBlank reports whether the last line of a text is blank.
func endsBlank(s string) bool {
	s, whole := strings.CutSuffix(s, "\n")
	s = strings.TrimRight(s, " \t\r")
	return whole && strings.HasSuffix(s, "\n")
}

func hasHeading(src string) bool {
	return slices.ContainsFunc(memfile.Parse(src).Outline().Headings, func(h memfile.Heading) bool { return h.Text == DetailsHeading })
}

// says reports whether a text says some words already, as words of their own. Both
// have their white space folded.
func says(s, words string) bool {
	for at := 0; words != ""; {
		i := strings.Index(s[at:], words)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(words)
		if !joined(s, start) && !joined(s, end) {
			return true
		}
		_, n := utf8.DecodeRuneInString(s[start:])
		at = start + n
	}
	return true
}

// joined reports whether an offset lies inside a word of letters that are written
// with spaces between words.
func joined(s string, at int) bool {
	if at == 0 || at == len(s) {
		return false
	}
	a, _ := utf8.DecodeLastRuneInString(s[:at])
	b, _ := utf8.DecodeRuneInString(s[at:])
	return wordRune(a) && wordRune(b) && !ideograph(a) && !ideograph(b)
}

// startsBlock matches a paragraph that would be read as something else.
var startsBlock = compiled("^(#{1,6}([ \t]|$)|>|[-+*]([ \t]|$)|[0-9]{1,9}[.)]([ \t]|$)|```|~~~|\\||---|===|___|\\*\\*\\*$)")

// paragraph gives words so that they are read as a paragraph.
func paragraph(s string) string {
	if !startsBlock().MatchString(s) {
		return s
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return s[:digits] + `\` + s[digits:]
}
