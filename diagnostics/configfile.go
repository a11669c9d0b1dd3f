package diagnostics

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"mem/core/memdir"
	"mem/core/text"
)

// ConfigName is the name of the configuration, in the memory directory or at the
// root of the project.
const ConfigName = ".mem.yaml"

// MaxConfigFile bounds a .mem.yaml, in bytes.
const MaxConfigFile = 64 << 10

const (
	configVersion     = 1
	configurationRule = "configuration" // the rule that reports Problems
	// maxConfigProblems bounds what is told of one file.
	maxConfigProblems = 50
)

// ParseConfig reads the text of a configuration. What it says replaces what base
// says; what cannot be obeyed is left as base has it and listed in Problems. path
// is the file's, for these.
func ParseConfig(path, src string, rules []Rule, base *Config) *Config {
	c := *base
	c.Severities = maps.Clone(base.Severities)
	c.Problems = slices.Clone(base.Problems)
	r := configReader{path: path, marks: newYAMLMarks(src), rules: rules, config: &c}
	r.read()
	r.close()
	return &c
}

// configReader goes through one configuration file.
type configReader struct {
	path   string
	marks  *yamlMarks
	rules  []Rule
	config *Config // what is made

	told     int
	leftOut  int
	leftSpan text.Span // of the first problem that was left out
}

func (r *configReader) problem(at text.Span, format string, args ...any) {
	if r.full() {
		if r.leftOut++; r.leftOut == 1 {
			r.leftSpan = at
		}
		return
	}
	r.told++
	r.add(at, fmt.Sprintf(format, args...))
}

func (r *configReader) full() bool { return r.told == maxConfigProblems }

func (r *configReader) add(at text.Span, message string) {
	r.config.Problems = append(r.config.Problems, ConfigProblem{Path: r.path, Span: at, Message: message, Text: r.marks.text})
}

func (r *configReader) close() {
	if r.leftOut > 0 {
		r.add(r.leftSpan, fmt.Sprintf("From here on, %d more things cannot be obeyed. Mend the first ones.", r.leftOut))
	}
}

func (r *configReader) read() {
	t := r.marks.text
	if t.Len() > MaxConfigFile {
		r.problem(t.Line(0), "The file has %d bytes; over %d it is not obeyed. Keep only the keys that you change.", t.Len(), MaxConfigFile)
		return
	}
	if at := invalidUTF8(t.String()); at >= 0 {
		r.problem(text.Span{Start: at, End: at + 1}, "Here the file is not UTF-8, so nothing of it is obeyed. Save it as UTF-8.")
		return
	}
	docs, err := loadYAML(r.marks.yaml())
	if len(docs) > 0 {
		r.root(docs[0])
	}
	switch {
	case err != nil:
		r.syntax(err, len(docs) > 0)
	case len(docs) > 1:
		r.problem(r.marks.line(docs[1].Line), "Here a second YAML document starts; only the first one is obeyed. Keep one.")
	}
}

// loadYAML gives the first two documents. Aliases are not expanded, and whatever a
// file holds, it costs an error and not the process.
func loadYAML(src string) (docs []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader([]byte(src)))
	for err == nil && len(docs) < 2 {
		doc := &yaml.Node{}
		if err = loader.Load(doc); err == nil {
			docs = append(docs, doc)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return docs, err
}

func (r *configReader) syntax(err error, someRead bool) {
	at, why := r.marks.fault(err)
	nothing := "nothing of this file is obeyed"
	if someRead {
		nothing = "only what stands before is obeyed"
	}
	line := r.marks.text.Slice(r.marks.text.FullLine(r.marks.text.LineAt(at.Start)))
	if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(indent, "\t") {
		r.problem(at, "This line is indented with a tab, which YAML does not allow, so %s. Indent with spaces.", nothing)
		return
	}
	r.problem(at, "This is not valid YAML (%s), so %s. Write one \"key: value\" a line, indented with spaces.", why, nothing)
}

// root reads the top level.
func (r *configReader) root(doc *yaml.Node) {
	if len(doc.Content) == 0 {
		return
	}
	n := doc.Content[0]
	r.mapping(n, n, "The file", "key", []string{"version", "rules", "limits", "client"}, func(key, value *yaml.Node) {
		switch key.Value {
		case "version":
			r.version(key, value)
		case "rules":
			var ids []string
			for _, rule := range r.rules {
				ids = append(ids, rule.ID)
			}
			r.mapping(key, value, "rules", "rule", ids, r.severity)
		case "limits":
			var names []string
			for _, l := range ConfigLimits() {
				names = append(names, l.Key)
			}
			r.mapping(key, value, "limits", "limit", names, r.limit)
		case "client":
			r.client(key, value)
		}
	})
}

// mapping reads a mapping of known names, each once; an empty one says nothing.
func (r *configReader) mapping(key, n *yaml.Node, what, noun string, names []string, each func(key, value *yaml.Node)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.problem(r.marks.of(n, key), `%s is %s; it has to hold lines "%s: value".%s`, what, kindOf(n), noun, list(noun, names))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		at := r.marks.of(name, name)
		switch line, twice := first[name.Value]; {
		case name.Kind != yaml.ScalarNode:
			r.problem(at, "This key is %s, not a name.%s", kindOf(name), list(noun, names))
			continue
		case twice:
			r.problem(at, "%s is set twice; line %d counts. Remove one of them.", memdir.ShownName(name.Value), line)
			continue
		case !slices.Contains(names, name.Value):
			r.unknown(at, name.Value, noun, names)
		default:
			each(name, value)
		}
		first[name.Value] = name.Line
	}
}

func (r *configReader) unknown(at text.Span, name, noun string, names []string) {
	hint := ""
	if !r.full() { // what is not told need not be looked for
		hint = list(noun, names)
		if near := nearest(name, names); near != "" {
			hint = " Did you mean " + near + "?"
		}
	}
	r.problem(at, "There is no %s %s, so this has no effect.%s", noun, memdir.ShownName(name), hint)
}

// list names what there is, where that is short enough to help.
func list(noun string, names []string) string {
	if len(names) > 12 {
		return fmt.Sprintf(" \"mem-lsp %ss\" lists the %ss.", noun, noun)
	}
	return fmt.Sprintf(" The %ss are %s.", noun, strings.Join(names, ", "))
}

// scalar gives a plain value; anything else is a problem.
func (r *configReader) scalar(key, n *yaml.Node, expected string) (string, bool) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.problem(r.marks.of(n, key), "%s is an alias, which %s does not take. Write %s itself.", key.Value, ConfigName, expected)
	case isNull(n):
		r.problem(r.marks.of(key, key), "%s has no value. Write %s, or remove the line.", key.Value, expected)
	case n.Kind != yaml.ScalarNode:
		r.problem(r.marks.of(n, key), "%s is %s. Write %s, or remove it.", key.Value, kindOf(n), expected)
	default:
		return n.Value, true
	}
	return "", false
}

func (r *configReader) version(key, n *yaml.Node) {
	if v, ok := r.scalar(key, n, strconv.Itoa(configVersion)); ok && (v != strconv.Itoa(configVersion) || n.ShortTag() != "!!int") {
		r.problem(r.marks.of(n, key), "The version is %s; this mem reads version %d, and obeys the keys that it knows. Write %d, or remove the line.", memdir.ShownName(v), configVersion, configVersion)
	}
}

func (r *configReader) severity(key, n *yaml.Node) {
	rule := &r.rules[slices.IndexFunc(r.rules, func(rule Rule) bool { return rule.ID == key.Value })]
	v, ok := r.scalar(key, n, "off, hint, information, warning or error")
	if !ok {
		return
	}
	s, err := ParseSeverity(v)
	if err != nil {
		r.problem(r.marks.of(n, key), "%s is no severity, so %s stays %s. Write off, hint, information, warning or error.",
			memdir.ShownName(v), rule.ID, r.config.severity(rule, rule.Severity))
		return
	}
	if ok, why := rule.admits(s); !ok {
		r.problem(r.marks.of(n, key), "%s", why)
		return
	}
	if r.config.Severities == nil {
		r.config.Severities = map[string]Severity{}
	}
	r.config.Severities[rule.ID] = s
}

func (r *configReader) limit(key, n *yaml.Node) {
	limits := ConfigLimits()
	l := limits[slices.IndexFunc(limits, func(l ConfigLimit) bool { return l.Key == key.Value })]
	v, ok := r.scalar(key, n, fmt.Sprintf("a whole number from %d to %d", l.Min, l.Max))
	if !ok {
		return
	}
	number, err := strconv.Atoi(v)
	switch {
	case n.ShortTag() != "!!int" || err != nil && !errors.Is(err, strconv.ErrRange) || len(v) > 1 && v[0] == '0':
		r.problem(r.marks.of(n, key), "%s is %s; it needs a whole number from %d to %d in plain digits, unquoted, so %d stays.", l.Key, memdir.ShownName(v), l.Min, l.Max, l.Of(r.config))
	case number < l.Min || number > l.Max:
		r.problem(r.marks.of(n, key), "%s is %s; it has to be from %d to %d, so %d stays.", l.Key, memdir.ShownName(v), l.Min, l.Max, l.Of(r.config))
	default:
		*l.field(&r.config.Limits) = number
	}
}

func (r *configReader) client(key, n *yaml.Node) {
	var names []string
	for _, c := range Clients() {
		names = append(names, string(c))
	}
	v, ok := r.scalar(key, n, strings.Join(names, ", "))
	switch {
	case !ok:
	case !slices.Contains(names, v):
		r.problem(r.marks.of(n, key), "%s is no client that mem knows, so %s stays. Write one of %s.", memdir.ShownName(v), r.config.Client, strings.Join(names, ", "))
	default:
		r.config.Client = Client(v)
	}
}

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	return "a single value"
}
