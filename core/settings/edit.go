package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// Setting is a key of the configuration and the text of its value.
type Setting struct{ Key, Text string }

// EditConfig sets keys in the text of a config.yaml and leaves every other byte of it as
// it is, comments included. Keys that are not there yet are added. path names the file in
// errors. What cannot be edited safely is an error that says what to write by hand: a file
// that is no valid configuration, flow style, values of several lines.
func EditConfig(path string, data []byte, set []Setting) ([]byte, error) {
	before := Default()
	if errs := before.parse(path, data); len(errs) > 0 {
		return nil, fmt.Errorf("it is not changed, since it has faults; mend them first:\n%w", errors.Join(errs...))
	}
	want := before
	want.sources = map[string]string{}
	out := data
	for _, s := range set {
		if err := want.Set(s.Key, s.Text, path); err != nil {
			return nil, err
		}
		var err error
		if out, err = editKey(out, s); err != nil {
			return nil, fmt.Errorf("%s: %s: %w; write it by hand: %s", path, s.Key, err, byHand(s))
		}
	}
	// An edit by lines of a format as rich as YAML is checked by reading it.
	after := Default()
	if errs := after.parse(path, out); len(errs) > 0 {
		return nil, fmt.Errorf("%s: it would not be valid after the change, so it is left as it is: %w", path, errors.Join(errs...))
	}
	for i, v := range Values(after) {
		if w := Values(want)[i]; v.Value != w.Value {
			return nil, fmt.Errorf("%s: %s would be %q after the change, not %q, so it is left as it is; write it by hand", path, v.Key, v.Value, w.Value)
		}
	}
	return out, nil
}

func byHand(s Setting) string { return s.Key + " = " + scalar(s.Text) }

// plainText is what needs no quotes in YAML and is no number, truth or null.
var plainText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./@+-]*(:[A-Za-z0-9_./@+-]+)*$`) })

// scalar writes a value. JSON's strings are YAML's.
func scalar(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return text
	}
	if plainText().MatchString(text) {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// editKey sets one key in a text.
func editKey(data []byte, s Setting) ([]byte, error) {
	var doc yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = loader.Load(&doc)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	steps := strings.Split(s.Key, ".")
	if isNull(root) {
		return appendLines(data, lines(steps, 0, s.Text)), nil
	}
	at, line, indent := root, 0, 0
	for depth, step := range steps {
		if at.Style&yaml.FlowStyle != 0 {
			return nil, errors.New("its section is written in braces")
		}
		indent = at.Content[0].Column - 1
		i := slices.IndexFunc(at.Content, func(n *yaml.Node) bool { return n.Value == step })
		for i >= 0 && i%2 == 1 { // a value, not a name
			j := slices.IndexFunc(at.Content[i+1:], func(n *yaml.Node) bool { return n.Value == step })
			if i = i + 1 + j; j < 0 {
				i = -1
			}
		}
		if i < 0 {
			if depth == 0 {
				return appendLines(data, lines(steps, indent, s.Text)), nil
			}
			return insertLines(data, line, lines(steps[depth:], indent, s.Text)), nil
		}
		name, value := at.Content[i], at.Content[i+1]
		if depth == len(steps)-1 {
			return replaceValue(data, name, value, s.Text)
		}
		if isNull(value) {
			return insertLines(data, name.Line, lines(steps[depth+1:], name.Column+1, s.Text)), nil
		}
		at, line = value, name.Line
	}
	return nil, errors.New("it names a section")
}

// lines write the rest of a path as nested keys.
func lines(steps []string, indent int, text string) []string {
	var out []string
	for i, step := range steps {
		l := strings.Repeat(" ", indent+2*i) + step + ":"
		if i == len(steps)-1 {
			l += " " + scalar(text)
		}
		out = append(out, l)
	}
	return out
}

func newline(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func appendLines(data []byte, add []string) []byte {
	nl := newline(data)
	out := slices.Clone(data)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, nl...)
	}
	return append(out, strings.Join(add, nl)+nl...)
}

// insertLines puts lines behind a line, counted from 1.
func insertLines(data []byte, after int, add []string) []byte {
	nl := newline(data)
	all := strings.SplitAfter(string(data), "\n")
	head := strings.Join(all[:after], "")
	if !strings.HasSuffix(head, "\n") {
		head += nl
	}
	return []byte(head + strings.Join(add, nl) + nl + strings.Join(all[after:], ""))
}

// replaceValue puts another value behind a name.
func replaceValue(data []byte, name, value *yaml.Node, text string) ([]byte, error) {
	all := strings.SplitAfter(string(data), "\n")
	if value.Kind != yaml.ScalarNode {
		return nil, errors.New("it is " + kindName(value))
	}
	if value.Anchor != "" || value.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return nil, errors.New("it is written in a way that is not changed here")
	}
	if isNull(value) && value.Value == "" { // nothing stands behind the name
		line := all[name.Line-1]
		at := strings.Index(line, name.Value+":")
		if at < 0 {
			return nil, errors.New("its name is quoted")
		}
		at += len(name.Value) + 1
		all[name.Line-1] = line[:at] + " " + scalar(text) + line[at:]
		return []byte(strings.Join(all, "")), nil
	}
	if value.Line != name.Line {
		return nil, errors.New("its value stands on another line")
	}
	line := all[value.Line-1]
	from := byteOf(line, value.Column-1)
	to, ok := endOfScalar(line, from)
	if !ok {
		return nil, errors.New("its value has several lines")
	}
	all[value.Line-1] = line[:from] + scalar(text) + line[to:]
	return []byte(strings.Join(all, "")), nil
}

// byteOf gives where a column is, which counts characters.
func byteOf(line string, column int) int {
	n := 0
	for i := range line {
		if n == column {
			return i
		}
		n++
	}
	return len(line)
}

// endOfScalar gives where a scalar that begins at from ends in its line.
func endOfScalar(line string, from int) (int, bool) {
	switch rest := line[from:]; {
	case strings.HasPrefix(rest, `"`):
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return from + i + 1, true
			}
		}
		return 0, false
	case strings.HasPrefix(rest, "'"):
		for i := 1; i < len(rest); i++ {
			if rest[i] != '\'' {
				continue
			}
			if i+1 < len(rest) && rest[i+1] == '\'' {
				i++
				continue
			}
			return from + i + 1, true
		}
		return 0, false
	default:
		if i := strings.Index(rest, " #"); i >= 0 {
			rest = rest[:i]
		}
		return from + len(strings.TrimRight(rest, " \t\r\n")), true
	}
}
