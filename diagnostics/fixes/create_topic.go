package fixes

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// CreateTopic is the ID of the fix. Its argument is the path of the topic.
const CreateTopic = "create-topic"

func createTopic() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      CreateTopic,
		Summary: "Creates the topic that a link leads to, from what the link and its entry say.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			if err := memdir.CheckTopicPath(arg); err != nil {
				return change.Change{}, err
			}
			if err := s.View.CheckPlace(arg); err != nil {
				return change.Change{}, err
			}
			if s.View.Exists(arg) {
				return change.Change{}, fmt.Errorf("%s exists by now", memdir.ShownName(arg))
			}
			d, l, err := linkOf(s, f)
			if err != nil {
				return change.Change{}, err
			}
			return s.View.CreateAlone(arg, topicFor(s, d, l, arg), s.Stamp) // whoever links it has its own words for it
		},
	}
}

// The sentences by which a topic says that it was made of words of another file begin
// so: the times of its own say nothing about when these were written.
const (
	missing = "This file was missing on "
	movedBy = "Moved from " + memfile.IndexName + " on "
)

// movedNote is what stands at the end of such a topic.
func movedNote(s *diagnostics.Snapshot) string {
	return "\n\n" + movedBy + s.Now().Format("2006-01-02") + "."
}

// OfOtherWords reports whether a topic says so.
func OfOtherWords(d *diagnostics.Doc) bool {
	body := d.File.BodyText()
	return strings.Contains(body, missing) || strings.Contains(body, movedBy)
}

// fewWords is from how many words on a summary can stand as a sentence: "Gone." cannot.
const fewWords = 3

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// topicFor makes a topic of what is known: the link that leads to it, and the
// index's entry where it has one. Its body says no more than that.
func topicFor(s *diagnostics.Snapshot, d *diagnostics.Doc, l memfile.Link, p string) memdir.Memory {
	title := plainWords(d.File.Text.Slice(l.Text))
	if slices.Contains([]string{"here", "this", "link", "see"}, strings.ToLower(title)) {
		title = ""
	}
	words := title
	var summary string
	if e := s.View.Index.Entry(p); e != nil {
		words = plainWords(e.Title)
		summary = plainWords(e.Summary)
	}
	m := memdir.Memory{Path: p, Name: freeName(s.View, p, title), Description: summary}
	if m.Description == "" && memdir.Fold(words) != m.Name {
		m.Description = words
	}
	if m.Description == "" {
		m.Description = strings.ReplaceAll(m.Name, "-", " ")
	}
	m.Description = memdir.Shortened(m.Description, s.Config.Limits.DescriptionLength)
	m.Type = typeFor(s.View.Index, p, m.Name, words+" "+summary)
	source := memfile.IndexName
	if summary == "" {
		source = d.Path
	}
	m.Body = fmt.Sprintf(missing+"%s. What it is about is known from the link in %s", s.Now().Format("2006-01-02"), memdir.ShownName(source))
	switch {
	case len(strings.Fields(summary)) < fewWords && summary != "" && ascii(summary):
		m.Body += fmt.Sprintf(" only, which says: %s.", memdir.Shown(strings.TrimRight(summary, "."), memdir.MaxShown))
	case summary != "":
		m.Body = summarySentence(summary) + "\n\n" + m.Body + " only."
	case words != "":
		m.Body += fmt.Sprintf(" only, which says: %s.", memdir.Shown(words, memdir.MaxShown))
	default:
		m.Body += " only."
	}
	return m
}

// plainWords gives what a text of one line shows: without links, emphasis and code
// marks, so that it can stand in another file and lead nowhere from there.
func plainWords(s string) string {
	tx := text.New(s)
	links := memfile.Links(tx, text.Span{End: tx.Len()}, memfile.Outline{})
	var b strings.Builder
	at := 0
	for _, l := range links {
		b.WriteString(s[at:l.Span.Start])
		b.WriteString(tx.Slice(l.Text))
		at = l.Span.End
	}
	b.WriteString(s[at:])
	return memfile.OneLine(strings.NewReplacer("**", "", "`", "", "[[", "", "]]", "", "<!--", "", "-->", "").Replace(b.String()))
}

// freeName gives a name that no topic has: from the file name, else from the
// link's text, else with the folder before it or a number behind it.
func freeName(v *memdir.View, p, title string) string {
	slug := func(s string) string { return strings.ReplaceAll(memdir.Slug(s), "_", "-") }
	stem := slug(memdir.Stem(p))
	for _, name := range []string{stem, slug(title), slug(path.Dir(p) + "-" + memdir.Stem(p))} {
		if name != "" && nameIsFree(v, name) {
			return name
		}
	}
	if stem == "" {
		stem = "topic"
	}
	for i := 2; ; i++ {
		if name := fmt.Sprintf("%s-%d", stem, i); nameIsFree(v, name) {
			return name
		}
	}
}

// nameIsFree reports whether no topic has the name; one that has it behind a type is
// found by that alone from now on.
func nameIsFree(v *memdir.View, name string) bool {
	for _, t := range v.Lookup(name) {
		if memdir.Fold(t.Name()) == memdir.Fold(name) {
			return false
		}
	}
	return true
}

// summarySentence gives a summary as one: with a capital, and with a full stop where it
// ends in a word.
func summarySentence(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if last, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')' {
		s += "."
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// typeFor guesses the type of a topic that does not exist yet: by its path, by the
// heading of the index that its entry stands under, and by the words used of it.
func typeFor(x *memfile.Index, p, name, words string) string {
	if t := typeInPath(p); t != "" {
		return t
	}
	if e := x.Entry(p); e != nil {
		heading := ""
		all := x.Outline().Headings
		if i := sort.Search(len(all), func(i int) bool { return all[i].Line.Start >= e.Span.Start }); i > 0 {
			heading = all[i-1].Text
		}
		for word := range strings.FieldsSeq(heading) {
			if t := strings.TrimSuffix(strings.ToLower(word), "s"); memfile.KnownType(t) { // "User", "References"
				return t
			}
		}
	}
	return GuessType(name, words, "")
}
