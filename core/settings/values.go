package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ConfigValue is one setting as `mem-mcp config` shows it.
type ConfigValue struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // as one would write it in the file
	Default string `json:"default"`
	Source  string `json:"source"` // default, path:line, a variable or a flag
	Type    string `json:"type"`
	Unit    string `json:"unit,omitempty"`
	Doc     string `json:"doc"`
}

// Values lists every setting of c in the order of Keys.
func Values(c Config) []ConfigValue {
	var vs []ConfigValue
	for _, k := range Keys() {
		v := ConfigValue{Key: k.Path, Value: k.text(&c), Default: k.Default, Source: c.Source(k.Path),
			Type: k.Type, Unit: k.Unit, Doc: k.Doc}
		if v.Source == "" {
			v.Source = SourceDefault
		}
		vs = append(vs, v)
	}
	return vs
}

// text is the value of the key in c as one would write it in the file.
func (k Key) text(c *Config) string {
	switch f := k.field(c).(type) {
	case *bool:
		return strconv.FormatBool(*f)
	case *string:
		if *f == "" {
			return `""`
		}
		return *f
	case *[]string:
		return value{list: *f, isList: true}.String()
	case *map[string]string:
		return foldersText(*f)
	case *float64:
		return strconv.FormatFloat(*f, 'g', -1, 64)
	case *time.Duration:
		return k.show(int64(*f))
	case *int64:
		return k.show(*f)
	case *int:
		return k.show(int64(*f))
	}
	return ""
}

// Example is a config.yaml that holds every setting with its documentation
// and its default: loading it changes nothing.
func Example() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=./config.schema.json\n# %s of mem. Every value below is the default; keep only what you change.\n", ConfigName)
	var open []string // the section that the last key was in
	for _, k := range Keys() {
		path := strings.Split(k.Path, ".")
		sections, name := path[:len(path)-1], path[len(path)-1]
		shared := 0
		for shared < len(open) && shared < len(sections) && open[shared] == sections[shared] {
			shared++
		}
		if shared == 0 {
			b.WriteByte('\n')
		}
		for depth := shared; depth < len(sections); depth++ {
			fmt.Fprintf(&b, "%s%s:\n", indent(depth), sections[depth])
		}
		open = sections
		fmt.Fprintf(&b, "%s# %s\n%s%s: %s\n", indent(len(sections)), k.comment(), indent(len(sections)), name, k.Default)
	}
	return b.String()
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// comment is the documentation of a key in one line.
func (k Key) comment() string {
	doc := k.Doc
	if k.Unit != "" {
		doc += " In " + k.Unit + "."
	}
	if len(k.Allowed) > 0 {
		doc += " One of " + strings.Join(k.Allowed, ", ") + "."
	}
	return doc
}

// object is a JSON object whose members keep their order.
type object struct {
	names  []string
	values map[string]any
}

func (o *object) set(name string, v any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = v
}

// MarshalJSON writes the members in the order in which they were set.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema is the JSON Schema (2020-12) of config.yaml. docs/config.schema.json
// is its output, and a test compares the two.
func Schema() ([]byte, error) {
	root := section("Configuration of mem: " + ConfigName + " in the folder mem of the XDG configuration directory.")
	root.names = append([]string{"$schema", "title"}, root.names...)
	root.values["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root.values["title"] = "mem " + ConfigName
	for _, k := range Keys() {
		path := strings.Split(k.Path, ".")
		at := root
		for _, name := range path[:len(path)-1] {
			props := at.values["properties"].(*object)
			if props.values[name] == nil {
				props.set(name, section(""))
			}
			at = props.values[name].(*object)
		}
		at.values["properties"].(*object).set(path[len(path)-1], k.schema())
	}
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema of %s: %w", ConfigName, err)
	}
	return append(data, '\n'), nil
}

func section(doc string) *object {
	o := &object{}
	if doc != "" {
		o.set("description", doc)
	}
	o.set("type", []string{"object", "null"})
	o.set("additionalProperties", false)
	o.set("properties", &object{})
	return o
}

func (k Key) schema() *object {
	o := &object{}
	o.set("description", k.comment())
	bounds := func() {
		o.set("minimum", k.Min)
		if k.Max > 0 {
			o.set("maximum", k.Max)
		}
	}
	switch k.Type {
	case TypeBool:
		o.set("type", "boolean")
	case TypeInt, TypeNumber:
		o.set("type", k.Type)
		bounds()
	case TypeSize:
		o.set("type", []string{"integer", "string"})
		bounds()
		o.set("pattern", "^[0-9]+ *([KMGT]i?B|kB|B)?$")
	case TypeDuration:
		o.set("type", "string")
		o.set("pattern", "^([0-9]+d|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+|0)$")
	case TypeChoice:
		o.set("enum", k.Allowed)
	case TypeText:
		o.set("type", "string")
	case TypeHashes:
		o.set("type", "array")
		item := &object{}
		item.set("type", "string")
		item.set("pattern", "^[0-9a-fA-F]{64}$")
		o.set("items", item)
	}
	if k.Type == TypeFolders {
		o.set("type", []string{"object", "null"})
		names, folder := &object{}, &object{}
		names.set("pattern", folderName().String())
		folder.set("type", "string")
		o.set("propertyNames", names)
		o.set("maxProperties", MaxStores)
		o.set("additionalProperties", folder)
	}
	o.set("default", k.jsonDefault())
	return o
}

// jsonDefault is the default in the type that the schema names.
func (k Key) jsonDefault() any {
	switch k.Type {
	case TypeBool:
		return k.Default == "true"
	case TypeInt, TypeNumber:
		return json.Number(k.Default)
	case TypeHashes:
		return []string{}
	case TypeText:
		return ""
	case TypeFolders:
		return &object{}
	}
	if n, err := strconv.ParseInt(k.Default, 10, 64); err == nil && k.Type == TypeSize {
		return n
	}
	return k.Default
}
