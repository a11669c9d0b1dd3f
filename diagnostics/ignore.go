package diagnostics

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mem/core/memfile"
	"mem/core/text"
)

const indexName = memfile.IndexName

// Ignore is a comment that silences a rule, one for each rule that it names.
type Ignore struct {
	Rule    string    // "" where the comment names none
	Form    string    // IgnoreNextLine or IgnoreFile; any other silences nothing
	File    bool      // the whole file; else the line below Line
	Line    int       // the line that the comment ends on, from 0
	Comment text.Span // all of the comment
	Name    text.Span // the rule's name in it; all of the comment where it names none
	Reason  bool      // why is said behind the names: "-- a frozen quote"
	Used    bool      // it silenced a finding

	target int // the line that is meant
}

// The forms of ignore comments: <!-- mem-ignore-next-line broken-link -->.
const (
	IgnoreNextLine = "next-line"
	IgnoreFile     = "file"
)

// Known reports whether the comment has one of the two forms and names a rule.
func (g Ignore) Known() bool {
	return g.Rule != "" && (g.Form == IgnoreNextLine || g.Form == IgnoreFile)
}

// silencers finds the comments that silence a finding without a look at all of them.
type silencers map[silencer][]*Ignore

// silencer is a rule and the line on which it is silenced; -1 is all of the file.
type silencer struct {
	rule string
	line int
}

func silencersOf(comments []Ignore) silencers {
	all := silencers{}
	for i := range comments {
		g := &comments[i]
		if !g.Known() {
			continue
		}
		at := silencer{g.Rule, g.target}
		if g.File {
			at.line = -1
		}
		all[at] = append(all[at], g)
	}
	return all
}

// by reports whether a finding of the same file is silenced, and notes by which
// comments.
func (s silencers) by(f Finding) bool {
	if len(s) == 0 {
		return false
	}
	here := s[silencer{f.Rule, f.Text.LineAt(f.Span.Start)}]
	file := s[silencer{f.Rule, -1}]
	for _, g := range here {
		g.Used = true
	}
	for _, g := range file {
		g.Used = true
	}
	return len(here)+len(file) > 0
}

const ignoreMark = "mem-ignore-"

// maxIgnore is the longest ignore comment, in bytes: it bounds what is looked at
// behind each "<!--".
const maxIgnore = 1 << 10

// A comment names one rule or several, with commas or spaces between them, and may
// say why behind them.
var (
	htmlIgnore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^<!--\s*mem-ignore-([\w-]*\w)(?:[\s:]+((?:[^<]|<[^!])*?))?\s*-->`)
	})
	yamlIgnore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(#[ \t]*mem-ignore-([\w-]*\w)(?:[ \t:]+([^\r\n]*?))?)[ \t]*\r?$`)
	})
	ruleName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\s,]+`) })
	reasonMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)--|--(?:\s|$)|[—–:]`) })
)

// IsIgnore reports whether a comment of HTML is an ignore comment, be it a right one.
func IsIgnore(comment string) bool {
	comment = strings.TrimLeft(comment, " \t")
	return htmlIgnore().MatchString(comment[:min(len(comment), maxIgnore)])
}

// findIgnores finds the ignore comments of a file, in order: those of YAML in the
// frontmatter, those of HTML in the body.
func findIgnores(d *Doc) []Ignore {
	src := d.Source()
	if !strings.Contains(src, ignoreMark) {
		return nil
	}
	var out []Ignore
	t := d.File.Text
	// m is a match of either expression, in groups: comment, form, names.
	add := func(at int, m []int) {
		span := func(i int) text.Span { return text.Span{Start: at + m[i], End: at + m[i+1]} }
		g := Ignore{Comment: span(0), Form: strings.Clone(t.Slice(span(2)))}
		g.File = g.Form == IgnoreFile
		g.Line = t.LineAt(g.Comment.End - 1)
		g.target = g.Line + 1
		named := false
		var names text.Span
		if m[4] >= 0 {
			names = span(4)
			if why := reasonMark().FindStringIndex(t.Slice(names)); why != nil {
				g.Reason = true
				names.End = names.Start + why[0]
			}
		}
		if g.File || g.Form == IgnoreNextLine {
			for _, n := range ruleName().FindAllStringIndex(t.Slice(names), -1) {
				g.Name = text.Span{Start: names.Start + n[0], End: names.Start + n[1]}
				g.Rule = strings.Clone(t.Slice(g.Name))
				out, named = append(out, g), true
			}
		}
		if !named {
			g.Name = g.Comment
			out = append(out, g)
		}
	}
	if fm := d.File.Front; fm != nil && strings.Contains(t.Slice(fm.YAML), ignoreMark) {
		for _, m := range yamlIgnore().FindAllStringSubmatchIndex(t.Slice(fm.YAML), -1) {
			if at := fm.YAML.Start; !inValue(d.File, at+m[2]) {
				add(at, m[2:])
			}
		}
	}
	if !strings.Contains(t.Slice(d.File.Body), ignoreMark) {
		return passOn(t, out)
	}
	o := d.Outline()
	for at := d.File.Body.Start; ; {
		i := strings.Index(src[at:], "<!--")
		if i < 0 {
			return passOn(t, out)
		}
		at += i
		end := min(len(src), at+maxIgnore)
		if m := htmlIgnore().FindStringSubmatchIndex(src[at:end]); m != nil && !memfile.In(o.Code, at) {
			add(at, m)
			at += m[1]
			continue
		}
		at += len("<!--")
	}
}

// inValue reports whether an offset lies in a value that goes over several lines,
// where "#" starts no comment.
func inValue(f *memfile.File, offset int) bool {
	return slices.ContainsFunc(f.Front.Keys, func(k memfile.Key) bool {
		return k.Raw.Contains(offset) && strings.IndexByte(`|>"'`, f.Text.String()[k.Raw.Start]) >= 0
	})
}

// passOn lets a comment above another one mean what that one means, so that
// comments for one line can stand below each other.
func passOn(t *text.Text, all []Ignore) []Ignore {
	targets := map[int]int{} // of the comments that stand alone, by their first line
	for i := len(all) - 1; i >= 0; i-- {
		g := &all[i]
		if g.Form != IgnoreNextLine {
			continue
		}
		if to, ok := targets[g.target]; ok {
			g.target = to
		}
		if first := t.LineAt(g.Comment.Start); standsAlone(t, g.Comment) {
			targets[first] = g.target
		}
	}
	return all
}

// standsAlone reports whether nothing but white space is on the lines of a span
// beside it.
func standsAlone(t *text.Text, s text.Span) bool {
	from, to := t.Line(t.LineAt(s.Start)).Start, t.Line(t.LineAt(max(s.Start, s.End-1))).End
	return strings.TrimSpace(t.Slice(text.Span{Start: from, End: s.Start})+t.Slice(text.Span{Start: s.End, End: to})) == ""
}
