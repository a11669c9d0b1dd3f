package tools

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// schema is the JSON schema of an object, as its properties in order.
type schema []property

// property is one property with the schema of its value.
type property struct {
	name     string
	value    raw
	required bool
	told     raw // what clients are told in its place, "" for the same
}

// raw is a JSON schema.
type raw string

func req(name string, value raw) property { return property{name: name, value: value, required: true} }
func opt(name string, value raw) property { return property{name: name, value: value} }

// tell gives a property of results of which clients are told less than results are
// checked against: a value that many tools have costs its place in the list of tools each
// time, and what its parts are called says what they are.
func (p property) tell(told raw) property {
	p.told = told
	return p
}

// str, integer, boolean and number are schemas of plain values.
func str(doc string) raw     { return typed("string", doc) }
func integer(doc string) raw { return typed("integer", doc) }
func boolean(doc string) raw { return typed("boolean", doc) }
func number(doc string) raw  { return typed("number", doc) }

func typed(kind, doc string) raw {
	return raw(`{"type":` + quote(kind) + describe(doc) + `}`)
}

func describe(doc string) string {
	if doc == "" {
		return ""
	}
	return `,"description":` + quote(doc)
}

// quote writes a string as JSON. Schemas are made of hundreds of strings whenever the
// server starts, nearly all of which need nothing but quotation marks.
func quote(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
	}) {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a Go string always encodes
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// choice is a string out of a closed set.
func choice(doc string, values ...string) raw {
	list, err := json.Marshal(values)
	if err != nil {
		return "{}" // strings always encode
	}
	return raw(`{"type":"string","enum":` + string(list) + describe(doc) + `}`)
}

// atLeast is an integer with a lower bound.
func atLeast(min, doc string) raw {
	return raw(`{"type":"integer","minimum":` + min + describe(doc) + `}`)
}

// list is an array of values.
func list(doc string, item raw) raw {
	return raw(`{"type":"array","items":` + string(item) + describe(doc) + `}`)
}

// object is the schema as a value inside of another one.
func (s schema) nested(doc string) raw {
	o := s.object()
	return raw(string(o[:len(o)-1]) + describe(doc) + "}")
}

// object gives the JSON schema of the object; it admits no other property.
func (s schema) object() json.RawMessage {
	n := len(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	for _, p := range s {
		n += len(p.value) + 2*len(`"":,`) + 2*len(p.name)
	}
	out := append(make([]byte, 0, n), `{"type":"object","properties":{`...)
	required := 0
	for i, p := range s {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(p.name)...), ':'), p.value...)
		if p.required {
			required++
		}
	}
	out = append(out, '}')
	if required > 0 {
		out = append(out, `,"required":[`...)
		for _, p := range s {
			if p.required {
				out = append(append(out, quote(p.name)...), ',')
			}
		}
		out[len(out)-1] = ']'
	}
	return append(out, `,"additionalProperties":false}`...)
}

// with gives a schema with more properties.
func (s schema) with(more ...property) schema {
	return append(append(schema{}, more...), s...)
}

// withoutDemands takes out of a schema what object says of objects besides their
// properties: which ones there have to be, and that there are no others.
func withoutDemands(value raw) string {
	const closed, required = `,"additionalProperties":false`, `,"required":[`
	var b strings.Builder
	rest := string(value)
	for {
		before, after, found := strings.Cut(rest, closed) // in a text its quotation marks would be escaped
		if i := strings.LastIndex(before, required); found && i >= 0 && strings.IndexByte(before[i:], ']') == len(before)-i-1 {
			before = before[:i]
		}
		b.WriteString(before)
		if !found {
			return b.String()
		}
		rest = after
	}
}

// published gives the schema of results as clients are told it: what there may be, and
// what it means. What has to be there, and that there is nothing else, is left out: the
// server makes sure of it, a result that is an error has none of it, and agents pay for
// the list of tools at the start of each session.
func (s schema) published() json.RawMessage {
	out := []byte(`{"type":"object","properties":{`)
	for i, p := range s {
		if i > 0 {
			out = append(out, ',')
		}
		value := p.told
		if value == "" {
			value = raw(withoutDemands(p.value))
		}
		out = append(append(append(out, quote(p.name)...), ':'), value...)
	}
	return append(out, `}}`...)
}
