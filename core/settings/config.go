package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"mem/core/project"
)

// ConfigName is the name of our configuration file in Env.ConfigDir.
const ConfigName = "config.yaml"

// MaxConfigFile bounds config.yaml, in bytes.
const MaxConfigFile = 1 << 20

// maxConfigErrors bounds what is reported of one file.
const maxConfigErrors = 20

// SourceDefault is the source of a value that nobody set.
const SourceDefault = "default"

// ConfigError is one thing wrong in the configuration.
type ConfigError struct {
	Source string // "path:line", a variable or a flag
	Key    string // "" when it is about the file
	Reason string
	Fix    string // what the reader can do
}

func (e *ConfigError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: %s: %s", e.Source, e.Reason, e.Fix)
	}
	return fmt.Sprintf("%s: %s: %s: %s", e.Source, e.Key, e.Reason, e.Fix)
}

// Default returns the configuration of a user who set nothing.
func Default() Config {
	c := Config{sources: map[string]string{}}
	for _, k := range Keys() {
		if err := k.assign(&c, scalarOf(k.Default), SourceDefault); err != nil {
			panic(fmt.Sprintf("settings: the default of %s is not valid: %v", k.Path, err)) // a test reads every default
		}
	}
	return c
}

// scalarOf turns a default into what the parser hands to assign.
func scalarOf(text string) value {
	switch text {
	case "[]":
		return value{list: []string{}, isList: true}
	case "{}":
		return value{isMap: true}
	}
	if text == `""` {
		text = ""
	}
	return value{text: text}
}

// LoadConfig reads env.ConfigFile and the MEM_* variables. A missing file is
// no error. Where something is wrong the error joins one *ConfigError for
// each thing, and the Config has everything that is right.
func LoadConfig(env Env) (Config, error) {
	c := Default()
	var errs []error
	if path := env.ConfigFile(); path != "" {
		data, err := project.ReadFile(path, MaxConfigFile)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			errs = append(errs, &ConfigError{Source: path, Reason: "cannot be read: " + project.Reason(err).Error(),
				Fix: "make it a readable file, or remove it to get the defaults"})
		default:
			errs = append(errs, c.parse(path, data)...)
		}
	}
	for _, k := range Keys() {
		name := k.EnvName()
		if name == "" {
			continue
		}
		if v, ok := env.lookup(name); ok && v != "" {
			if err := k.assign(&c, value{text: v}, "environment variable "+name); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return c, errors.Join(errs...)
}

// Set overrides one key, as a flag of the command line does. source says who
// did, such as "--daily-log".
func (c *Config) Set(key, text, source string) error {
	for _, k := range Keys() {
		if k.Path != key {
			continue
		}
		v := value{text: text}
		if k.Type == TypeHashes {
			v = value{isList: true, list: strings.Split(text, ",")}
		}
		if k.Type == TypeFolders {
			w := walker{config: c, path: source}
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(text), &doc); err == nil && len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode {
				v, _ = w.named(k, doc.Content[0])
			}
			if len(w.errs) > 0 {
				return w.errs[0]
			}
		}
		return k.assign(c, v, source)
	}
	return &ConfigError{Source: source, Key: key, Reason: "there is no such key", Fix: "see mem-mcp config for all keys"}
}

// Source says where the value of a key comes from: SourceDefault, "path:line",
// a variable or a flag.
func (c Config) Source(key string) string { return c.sources[key] }

// parse applies one configuration file and returns what is wrong in it.
func (c *Config) parse(path string, data []byte) []error {
	var doc yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = loader.Load(&doc)
	}
	if errors.Is(err, io.EOF) {
		return nil // empty, or only comments
	}
	if err != nil {
		return []error{&ConfigError{Source: path, Reason: "is not YAML: " + oneLine(err), Fix: "mend that line, or remove the file to get the defaults"}}
	}
	w := walker{config: c, path: path, keys: map[string]Key{}, sections: map[string][]string{}}
	for _, k := range Keys() {
		w.keys[k.Path] = k
		w.addToSections(k.Path)
	}
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	w.section(root, "")
	var more yaml.Node
	if err := loader.Load(&more); !errors.Is(err, io.EOF) {
		w.fail(&more, "", "has more than one document", "keep one")
	}
	if left := len(w.errs) - maxConfigErrors; left > 0 {
		w.errs = append(w.errs[:maxConfigErrors], &ConfigError{Source: path, Reason: fmt.Sprintf("has %d more errors", left), Fix: "mend the first ones"})
	}
	return w.errs
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// walker goes through the nodes of a configuration file.
type walker struct {
	config   *Config
	path     string
	keys     map[string]Key
	sections map[string][]string // section → what it may hold
	errs     []error
}

// addToSections notes each step of a key's path in the section above it.
func (w *walker) addToSections(path string) {
	section := ""
	for name := range strings.SplitSeq(path, ".") {
		known := false
		for _, n := range w.sections[section] {
			known = known || n == name
		}
		if !known {
			w.sections[section] = append(w.sections[section], name)
		}
		section = join(section, name)
	}
}

func join(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}

func (w *walker) fail(n *yaml.Node, key, reason, fix string) {
	source := w.path
	if n.Line > 0 {
		source = fmt.Sprintf("%s:%d", w.path, n.Line)
	}
	w.errs = append(w.errs, &ConfigError{Source: source, Key: key, Reason: reason, Fix: fix})
}

// section reads a mapping of names; an empty one sets nothing.
func (w *walker) section(n *yaml.Node, section string) {
	if isNull(n) {
		return
	}
	names := strings.Join(w.sections[section], ", ")
	if n.Kind != yaml.MappingNode {
		w.fail(n, section, "is "+kindName(n)+", not a mapping", "write `name: value` lines; the names are "+names)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, val := n.Content[i], n.Content[i+1]
		key := join(section, name.Value)
		if name.Kind != yaml.ScalarNode {
			w.fail(name, section, "has a name that is "+kindName(name), "the names are "+names)
			continue
		}
		if first, twice := seen[name.Value]; twice {
			w.fail(name, key, fmt.Sprintf("is set twice, first in line %d", first), "keep one of them")
			continue
		}
		seen[name.Value] = name.Line
		switch {
		case w.sections[key] != nil:
			w.section(val, key)
		case w.keys[key].Path != "":
			w.key(w.keys[key], val)
		default:
			where := "at the top level"
			if section != "" {
				where = "in " + section
			}
			w.fail(name, key, "there is no such key", "known "+where+": "+names)
		}
	}
}

func (w *walker) key(k Key, n *yaml.Node) {
	v, ok := nodeValue(n)
	if k.Type == TypeFolders && n.Kind == yaml.MappingNode {
		v, ok = w.named(k, n)
	}
	if !ok {
		w.fail(n, k.Path, "is "+kindName(n)+", not "+k.expected(), k.fix())
		return
	}
	if err := k.assign(w.config, v, fmt.Sprintf("%s:%d", w.path, n.Line)); err != nil {
		w.errs = append(w.errs, err)
	}
}

// named takes a mapping of names to texts out of a node. A name that stands twice
// is told, and its first value holds.
func (w *walker) named(k Key, n *yaml.Node) (value, bool) {
	v := value{isMap: true}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, val := n.Content[i], n.Content[i+1]
		if name.Kind != yaml.ScalarNode || val.Kind != yaml.ScalarNode || isNull(val) {
			w.fail(val, join(k.Path, name.Value), "is "+kindName(val)+", not a folder", k.fix())
			continue
		}
		if first, twice := seen[name.Value]; twice {
			w.fail(name, join(k.Path, name.Value), fmt.Sprintf("is set twice, first in line %d", first), "keep one of them")
			continue
		}
		seen[name.Value] = name.Line
		if err := checkFolder(name.Value, val.Value); err != nil {
			w.fail(val, join(k.Path, name.Value), err.Error(), k.fix())
			continue
		}
		v.pairs = append(v.pairs, [2]string{name.Value, val.Value})
	}
	return v, true
}

// nodeValue takes a scalar or a list of scalars out of a node. Aliases are
// refused: nothing here is worth repeating.
func nodeValue(n *yaml.Node) (value, bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		tag := n.ShortTag()
		return value{text: n.Value, quoted: tag != "!!bool" && tag != "!!int" && tag != "!!float"}, !isNull(n)
	case yaml.SequenceNode:
		v := value{isList: true, list: []string{}}
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode || isNull(item) {
				return value{}, false
			}
			v.list = append(v.list, item.Value)
		}
		return v, true
	}
	return value{}, false
}

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func kindName(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "empty"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Kind == yaml.ScalarNode:
		return fmt.Sprintf("%q", n.Value)
	}
	return "something else"
}
