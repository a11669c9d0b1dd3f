package diagnostics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// ConfigLimit is one number that .mem.yaml may set: the table of them drives the
// parser, the schema and docs/formats.md.
type ConfigLimit struct {
	Key      string // below limits
	Unit     string
	Doc      string // what it decides, in one sentence
	Min, Max int    // beyond these, a number is a slip rather than a wish

	field func(*Limits) *int
}

// ConfigLimits gives every limit in the order in which they are documented.
func ConfigLimits() []ConfigLimit {
	return []ConfigLimit{
		{"index_lines", "lines", "Lines of the index that are loaded.", 1, 10_000, func(l *Limits) *int { return &l.IndexLines }},
		{"index_bytes", "bytes", "Size of the index that is loaded, in bytes or, where a client counts them, UTF-16 units.", 50, 1_000_000, func(l *Limits) *int { return &l.IndexSize }},
		{"entry_length", "characters", "Length of an entry's line, past which details belong in the topic.", 20, 10_000, func(l *Limits) *int { return &l.EntryLength }},
		{"scan_lines", "lines", "Lines of a topic that a scan reads; the frontmatter has to end within them.", 1, 1_000, func(l *Limits) *int { return &l.ScanLines }},
		{"topics", "topics", "Topics that a scan lists.", 1, 100_000, func(l *Limits) *int { return &l.Topics }},
		{"description_length", "characters", "Length of a description that is judged at a glance.", 20, 10_000, func(l *Limits) *int { return &l.DescriptionLength }},
		{"stale_days", "days", "Days after which an untouched project topic counts as stale.", 1, 3_650, func(l *Limits) *int { return &l.StaleDays }},
		{"reference_bytes", "bytes", "Size of a reference topic's body, past which it keeps more than where to look.", 50, 1_000_000, func(l *Limits) *int { return &l.ReferenceBytes }},
		{"near_percent", "percent", "Part of an index limit, from which index-near-limit speaks.", 1, 100, func(l *Limits) *int { return &l.NearPercent }},
	}
}

// Default gives the number that holds when nobody sets it.
func (l ConfigLimit) Default() int { return *l.field(&DefaultConfig().Limits) }

// Of gives the number as a configuration has it.
func (l ConfigLimit) Of(c *Config) int { return *l.field(&c.Limits) }

// Clients gives the client profiles, the default first.
func Clients() []Client { return []Client{AnyClient, ClaudeCode, SeedClient} }

// ConfigLimitTable gives the limits as a table of Markdown.
func ConfigLimitTable() string {
	var b strings.Builder
	b.WriteString("| limit | unit | default | least | most | |\n|---|---|---|---|---|---|\n")
	for _, l := range ConfigLimits() {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %d | %s |\n", l.Key, l.Unit, l.Default(), l.Min, l.Max, l.Doc)
	}
	return b.String()
}

// admits reports whether a configuration may set a rule to a severity, and if not,
// why.
func (r *Rule) admits(s Severity) (ok bool, why string) {
	switch {
	case r.Safety && s < r.Severity:
		return false, fmt.Sprintf("%s is a safety rule, which a file that comes with the memory cannot make less than %s. "+
			"To accept one finding, put its fingerprint into guard.allow of your own config.yaml.", r.ID, r.Severity)
	case r.ID == configurationRule && s == Off:
		return false, fmt.Sprintf("%s tells what is wrong with this file, so the file cannot switch it off. Remove this line.", r.ID)
	}
	return true, ""
}

// Admits reports whether a .mem.yaml may set the rule to a severity.
func (r *Rule) Admits(s Severity) bool {
	ok, _ := r.admits(s)
	return ok
}

// schema is the part of JSON Schema (2020-12) that describes .mem.yaml.
type schema struct {
	Schema               string   `json:"$schema,omitempty"`
	Title                string   `json:"title,omitempty"`
	Description          string   `json:"description,omitempty"`
	Type                 any      `json:"type,omitempty"` // a name or several
	Const                any      `json:"const,omitempty"`
	Enum                 []string `json:"enum,omitempty"`
	Minimum              *int     `json:"minimum,omitempty"`
	Maximum              *int     `json:"maximum,omitempty"`
	Default              any      `json:"default,omitempty"`
	AdditionalProperties *bool    `json:"additionalProperties,omitempty"`
	Properties           members  `json:"properties,omitempty"`
}

// members are properties in the order in which they are documented.
type members []member

type member struct {
	name string
	of   schema
}

// MarshalJSON writes an object whose members keep their order.
func (ms members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range ms {
		of, err := json.Marshal(m.of)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%c%q:%s", "{,"[min(i, 1)], m.name, of)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// mapping describes a mapping that may be empty and holds no other keys.
func mapping(doc string, ms members) schema {
	return schema{Description: doc, Type: []string{"object", "null"}, AdditionalProperties: new(bool), Properties: ms}
}

// ConfigSchema gives the JSON Schema of .mem.yaml with the rules that there are.
// docs/mem.schema.json is its output, and a test compares the two.
func ConfigSchema(rules []Rule) ([]byte, error) {
	var severities, limits members
	for i := range rules {
		r := &rules[i]
		s := schema{Description: r.Summary, Default: r.Severity.String()}
		for level := Off; level <= Error; level++ {
			if ok, _ := r.admits(level); ok {
				s.Enum = append(s.Enum, level.String())
			}
		}
		severities = append(severities, member{r.ID, s})
	}
	for _, l := range ConfigLimits() {
		limits = append(limits, member{l.Key, schema{Description: l.Doc + " In " + l.Unit + ".", Type: "integer", Minimum: &l.Min, Maximum: &l.Max, Default: l.Default()}})
	}
	client := schema{Description: "Whose limits hold for the index.", Default: string(AnyClient)}
	for _, c := range Clients() {
		client.Enum = append(client.Enum, string(c))
	}
	root := mapping("How strictly mem checks a memory directory: "+ConfigName+" in it or at the top of the project.", members{
		{"version", schema{Description: "Version of this format.", Const: configVersion}},
		{"rules", mapping("Severity of each rule.", severities)},
		{"limits", mapping("Numbers that rules go by.", limits)},
		{"client", client},
	})
	root.Schema, root.Title = "https://json-schema.org/draft/2020-12/schema", "mem "+ConfigName
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema of %s: %w", ConfigName, err)
	}
	return append(out, '\n'), nil
}
