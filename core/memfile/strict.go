package memfile

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v4"

	"mem/core/text"
)

// decodeStrictly runs the YAML parser over frontmatter that is more than plain
// "key: value" lines: where it parses, the parser's values replace the lenient
// ones; where it does not, a problem says why and the lenient reading stays.
func (f *File) decodeStrictly() {
	fm := f.Front
	src := f.Text.Slice(fm.YAML)
	if len(src) > maxFrontmatter {
		f.Problems = append(f.Problems, Problem{
			Code: Syntax, Span: text.Span{Start: fm.YAML.Start, End: fm.YAML.Start},
			Message: fmt.Sprintf("the frontmatter has %d bytes; more than %d are not parsed. Move the text into the body.", len(src), maxFrontmatter),
		})
		return
	}
	var doc yaml.Node
	if err := parseYAML(src, &doc); err != nil {
		f.Problems = append(f.Problems, f.syntaxProblem(err))
		return
	}
	if len(doc.Content) == 0 {
		return
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		f.Problems = append(f.Problems, Problem{
			Code: Syntax, Span: fm.YAML,
			Message: `the frontmatter is not a list of "key: value" lines.`,
		})
		return
	}
	values := map[string]string{}
	collect(root, "", values)
	found := map[string]bool{}
	for i := range fm.Keys {
		path := fm.Keys[i].Path()
		if v, ok := values[path]; ok {
			fm.Keys[i].Value = v
			found[path] = true
		}
	}
	maps.DeleteFunc(values, func(path, _ string) bool { return found[path] })
	fm.inline = values
}

// parseYAML guards against a parser that panics: whatever a file holds, it
// costs a problem and not the process.
func parseYAML(src string, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	return yaml.Unmarshal([]byte(src), doc)
}

// collect gathers the scalar values of a mapping and of the metadata mapping
// below it. Aliases are followed once; they are never expanded further, so that
// a file of aliases cannot grow in memory.
func collect(m *yaml.Node, parent string, into map[string]string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, val := m.Content[i], m.Content[i+1]
		if val.Kind == yaml.AliasNode && val.Alias != nil {
			val = val.Alias
		}
		switch {
		case val.Kind == yaml.ScalarNode:
			path := key.Value
			if parent != "" {
				path = parent + "." + path
			}
			v := val.Value
			if val.Tag == "!!null" {
				v = ""
			}
			into[path] = v
		case val.Kind == yaml.MappingNode && parent == "" && key.Value == MetadataKey:
			collect(val, MetadataKey, into)
		}
	}
}

// syntaxProblem places a parser's error on its line, and names the usual cause.
func (f *File) syntaxProblem(err error) Problem {
	t, fm := f.Text, f.Front
	first := t.LineAt(fm.YAML.Start)
	line, what := first, err.Error()
	var le *yaml.LoadError
	if errors.As(err, &le) && le.Mark.Line > 0 {
		line, what = first+le.Mark.Line-1, le.Message
	}
	line = min(max(line, first), t.LineAt(max(fm.YAML.End-1, fm.YAML.Start)))
	p := Problem{Code: Syntax, Span: t.Line(line), Message: "not valid YAML: " + strings.TrimPrefix(what, "yaml: ")}
	for _, k := range fm.Keys {
		raw := t.Slice(k.Raw)
		if k.Raw.Len() == 0 || !needsQuotes(raw) {
			continue
		}
		p.Key, p.Span = k.Path(), k.Raw
		p.Message = fmt.Sprintf("the value of %q is not valid YAML (%s). Put it in double quotes.", k.Path(), reasonToQuote(raw))
		break
	}
	return p
}

// needsQuotes reports whether a one-line value breaks a YAML parser by itself.
func needsQuotes(raw string) bool { return reasonToQuote(raw) != "" }

func reasonToQuote(raw string) string {
	switch {
	case strings.ContainsAny(raw, "\n"):
		return ""
	case raw[0] == '`' || raw[0] == '@' || raw[0] == '%':
		return fmt.Sprintf("it starts with %q", raw[0])
	case raw[0] == '"' || raw[0] == '\'':
		if end := closingQuote(raw); end < 0 || strings.TrimSpace(raw[end:]) != "" {
			return "its quotes do not enclose all of it"
		}
	case raw[0] == '[' || raw[0] == '{' || raw[0] == '*' || raw[0] == '&' || raw[0] == '!':
		var n yaml.Node
		if parseYAML("k: "+raw, &n) != nil {
			return fmt.Sprintf("it starts with %q", raw[0])
		}
	case strings.Contains(raw, ": ") || strings.HasSuffix(raw, ":"):
		return `it contains ": "`
	}
	return ""
}
