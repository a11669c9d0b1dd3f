package diagnostics

import (
	"regexp"
	"strings"

	"mem/core/memfile"
	"mem/core/text"
)

const indexName = memfile.IndexName

// Ignore is a comment that silences a rule, one for each rule that it names.
type Ignore struct {
	Rule    string
	File    bool      // the whole file; else the line below Line
	Line    int       // the line that the comment ends on, from 0
	Comment text.Span // all of the comment
	Name    text.Span // the rule's name in it
	Used    bool      // it silenced a finding
}

// silences reports whether a finding of the same file is meant.
func (g Ignore) silences(f Finding) bool {
	if g.Rule != f.Rule {
		return false
	}
	return g.File || f.Text.LineAt(f.Span.Start) == g.Line+1
}

// A comment names one rule or several, with commas or spaces between them.
var (
	htmlIgnore = regexp.MustCompile(`^<!--\s*mem-ignore-(next-line|file)\s+([^>]*?)\s*-->`)
	yamlIgnore = regexp.MustCompile(`(?m)^[ \t]*(#[ \t]*mem-ignore-(next-line|file)[ \t]+([^\r\n]*?))[ \t]*\r?$`)
	ruleName   = regexp.MustCompile(`[^\s,]+`)
)

// IsIgnore reports whether a comment of HTML is an ignore comment.
func IsIgnore(comment string) bool { return htmlIgnore.MatchString(strings.TrimLeft(comment, " \t")) }

// findIgnores finds the ignore comments of a file: those of HTML in the body, those
// of YAML in the frontmatter.
func findIgnores(d *Doc) []Ignore {
	src := d.Source()
	if !strings.Contains(src, "mem-ignore-") {
		return nil
	}
	var out []Ignore
	t := d.File.Text
	add := func(comment text.Span, scope string, names text.Span) {
		for _, m := range ruleName.FindAllStringIndex(t.Slice(names), -1) {
			name := text.Span{Start: names.Start + m[0], End: names.Start + m[1]}
			out = append(out, Ignore{Rule: strings.Clone(t.Slice(name)), File: scope == "file",
				Line: t.LineAt(max(comment.End-1, comment.Start)), Comment: comment, Name: name})
		}
	}
	if fm := d.File.Front; fm != nil {
		for _, m := range yamlIgnore.FindAllStringSubmatchIndex(t.Slice(fm.YAML), -1) {
			at := fm.YAML.Start
			add(text.Span{Start: at + m[2], End: at + m[3]}, src[at+m[4]:at+m[5]], text.Span{Start: at + m[6], End: at + m[7]})
		}
	}
	o := d.Outline()
	for at := d.File.Body.Start; ; {
		i := strings.Index(src[at:], "<!--")
		if i < 0 {
			return out
		}
		at += i
		if m := htmlIgnore.FindStringSubmatchIndex(src[at:]); m != nil && !memfile.In(o.Code, at) {
			add(text.Span{Start: at, End: at + m[1]}, src[at+m[2]:at+m[3]], text.Span{Start: at + m[4], End: at + m[5]})
		}
		at += len("<!--")
	}
}
