package memfile

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v4"
)

// decodeStrictly runs the YAML parser over frontmatter that is more than plain
// "key: value" lines: where it parses, the parser's values replace the lenient
// ones; where it does not, a problem says why and the lenient reading stays.
func (f *File) decodeStrictly() {
	fm := f.Front
	src := f.Text.Slice(fm.YAML)
	first := f.Text.LineAt(fm.YAML.Start)
	if len(src) > maxFrontmatter {
		f.Problems = append(f.Problems, Problem{
			Code: Syntax, Span: f.Text.Line(first),
			Message: fmt.Sprintf("the frontmatter has %d bytes; more than %d are not parsed as YAML. Move the text into the body.", len(src), maxFrontmatter),
		})
		return
	}
	var doc yaml.Node
	if err := parseYAML(src, &doc); err != nil {
		f.Problems = append(f.Problems, f.syntaxProblems(err)...)
		return
	}
	if len(doc.Content) == 0 {
		return
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		f.Problems = append(f.Problems, Problem{
			Code: Syntax, Span: fm.YAML,
			Message: `the frontmatter is not a list of "key: value" lines. Write one key a line, or remove the "---" lines.`,
		})
		return
	}
	d := decoded{values: map[string]string{}, lines: map[place]bool{}}
	d.collect(root, "")
	found := map[string]bool{}
	for i := range fm.Keys {
		k := &fm.Keys[i]
		path := k.Path()
		if !d.lines[place{path, f.Text.LineAt(k.Span.Start) - first + 1}] {
			fm.odd = true
		}
		if v, ok := d.values[path]; ok {
			k.Value = v
			found[path] = true
		}
	}
	maps.DeleteFunc(d.values, func(path, _ string) bool { return found[path] })
	fm.inline = d.values
}

// parseYAML guards against a parser that panics: whatever a file holds, it
// costs a problem and not the process. Invalid bytes are a problem of their own and
// are read as U+FFFD.
func parseYAML(src string, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	return yaml.Unmarshal([]byte(strings.ToValidUTF8(src, "\uFFFD")), doc)
}

// decoded is what a YAML parser reads: the scalar values of the top level and of
// the metadata mapping, and the lines on which their keys stand.
type decoded struct {
	values map[string]string
	lines  map[place]bool
}

type place struct {
	path string
	line int // from 1, in the frontmatter
}

// collect gathers one mapping. Aliases are followed once; they are never
// expanded further, so that a file of aliases cannot grow in memory.
func (d decoded) collect(m *yaml.Node, parent string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, val := m.Content[i], m.Content[i+1]
		path := key.Value
		if parent != "" {
			path = parent + "." + path
		}
		d.lines[place{path, key.Line}] = true
		if val.Kind == yaml.AliasNode && val.Alias != nil {
			val = val.Alias
		}
		switch {
		case val.Kind == yaml.ScalarNode:
			v := val.Value
			if val.ShortTag() == "!!null" {
				v = ""
			}
			d.values[path] = v
		case val.Kind == yaml.MappingNode && path == MetadataKey:
			d.collect(val, MetadataKey)
		}
	}
}

// maxSyntaxProblems bounds how many values of one file are reported.
const maxSyntaxProblems = 20

// syntaxProblems gives a problem for each value that is no YAML by itself; where
// none is, one for the line that the parser's error names.
func (f *File) syntaxProblems(err error) []Problem {
	var out []Problem
	for _, k := range f.Front.Keys {
		why := f.reasonToQuote(k)
		if why == "" {
			continue
		}
		out = append(out, Problem{
			Code: Syntax, Key: k.Path(), Span: k.Raw,
			Message: fmt.Sprintf("the value of %q is not valid YAML (%s). Put it in double quotes.", k.Path(), why),
		})
		if len(out) == maxSyntaxProblems {
			break
		}
	}
	if len(out) == 0 {
		out = append(out, f.syntaxProblem(err))
	}
	return out
}

// syntaxProblem places a parser's error on its line, and names the usual cause.
func (f *File) syntaxProblem(err error) Problem {
	t, fm := f.Text, f.Front
	first := t.LineAt(fm.YAML.Start)
	line, what := first, err.Error()
	var le *yaml.LoadError
	if errors.As(err, &le) {
		what = le.Message
		if le.Mark.Line > 0 {
			line = first + le.Mark.Line - 1
		}
	}
	what = strings.TrimPrefix(what, "yaml: ")
	line = min(max(line, first), t.LineAt(max(fm.YAML.End-1, fm.YAML.Start)))
	p := Problem{Code: Syntax, Span: t.Line(line), Message: "not valid YAML: " + what + ". Write one key a line, with its value in double quotes."}
	if i := proseLine(t, first, t.LineAt(max(fm.YAML.End-1, fm.YAML.Start))+1); i >= 0 {
		p.Span = t.Line(i)
		p.Message = `this line is no "key: value". Move it into the body, or indent it by two spaces where it continues the value above.`
		return p
	}
	if indent := lineText(t, line); strings.Contains(indent[:indentOf(indent)], "\t") {
		p.Message = "this line is indented with a tab; YAML takes only spaces there. Put two spaces for the tab."
	}
	for _, k := range fm.Keys {
		if k.Span.Start <= p.Span.Start && p.Span.Start < k.Span.End {
			p.Key = k.Path() // the last one is the innermost
		}
	}
	return p
}

// reasonToQuote says why the value of a key is no YAML by itself, "" when it is
// or has lines of its own.
func (f *File) reasonToQuote(k Key) string {
	raw := f.Text.Slice(k.Raw)
	if raw == "" || strings.Contains(raw, "\n") || plainScalar(raw) {
		return ""
	}
	var n yaml.Node
	if raw[0] == '*' && f.hasAnchor(raw[1:]) || parseYAML("k: "+raw+"\n", &n) == nil {
		return ""
	}
	switch {
	case raw[0] == '"' || raw[0] == '\'':
		return "its quotes do not enclose all of it"
	case strings.ContainsRune("`@%[]{}&!|>,-?:*", rune(raw[0])):
		return fmt.Sprintf("it starts with %q", raw[0])
	case strings.Contains(raw, ": ") || strings.HasSuffix(raw, ":"):
		return `it contains ": "`
	}
	return "it holds a character that YAML does not allow unquoted"
}

// hasAnchor reports whether an anchor with the name that s begins with stands in the
// frontmatter, so that "*" before the name makes it an alias and no emphasis.
func (f *File) hasAnchor(s string) bool {
	name := s
	if i := strings.IndexAny(s, " \t,]}"); i >= 0 {
		name = s[:i]
	}
	return name != "" && strings.Contains(f.Text.Slice(f.Front.YAML), "&"+name)
}
