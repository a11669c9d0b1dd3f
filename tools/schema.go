package tools

import (
	"bytes"
	"encoding/json"
)

// schema is the JSON schema of an object, as its properties in order.
type schema []property

// property is one property with the schema of its value.
type property struct {
	name     string
	value    raw
	required bool
}

// raw is a JSON schema.
type raw string

func req(name string, value raw) property { return property{name, value, true} }
func opt(name string, value raw) property { return property{name, value, false} }

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

func quote(s string) string {
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
	var props, required bytes.Buffer
	for _, p := range s {
		if props.Len() > 0 {
			props.WriteByte(',')
		}
		props.WriteString(quote(p.name) + ":" + string(p.value))
		if !p.required {
			continue
		}
		if required.Len() > 0 {
			required.WriteByte(',')
		}
		required.WriteString(quote(p.name))
	}
	out := `{"type":"object","properties":{` + props.String() + `}`
	if required.Len() > 0 {
		out += `,"required":[` + required.String() + `]`
	}
	return json.RawMessage(out + `,"additionalProperties":false}`)
}

// with gives a schema with more properties.
func (s schema) with(more ...property) schema {
	return append(append(schema{}, more...), s...)
}

// or gives the schema of an object that is this one or another.
func (s schema) or(other raw) json.RawMessage {
	return json.RawMessage(`{"type":"object","anyOf":[` + string(s.object()) + "," + string(other) + `]}`)
}
