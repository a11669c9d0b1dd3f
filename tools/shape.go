package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// shape is a JSON schema as far as the tools use it, ready to check JSON text with. A
// keyword that it does not know is an error when it is made, so that nothing that a schema
// demands goes unchecked. It is our own since it reads the text itself: to decode a result,
// to check that would cost more than to make it, and the library that mcp-go links for
// this costs every start of the process a third of its time.
type shape struct {
	types    []string // empty: any
	props    map[string]prop
	required []string
	closed   bool   // no other properties
	extra    *shape // what others must be, nil for anything
	items    *shape
	enum     []string
	min, max *float64
}

// prop is a property of an object.
type prop struct {
	shape *shape
	bit   uint64 // its place among the required ones, 0 for none
}

// maxRequired is how many properties of an object may be required.
const maxRequired = 64

// written is a schema as it is written.
type written struct {
	Type        json.RawMessage            `json:"type"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Additional  json.RawMessage            `json:"additionalProperties"`
	Items       json.RawMessage            `json:"items"`
	Enum        []string                   `json:"enum"`
	Minimum     *float64                   `json:"minimum"`
	Maximum     *float64                   `json:"maximum"`
	Title       string                     `json:"title"`       // asks for nothing
	Description string                     `json:"description"` // asks for nothing
}

// newShape reads a schema.
func newShape(schema json.RawMessage) (*shape, error) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.DisallowUnknownFields()
	var w written
	if err := d.Decode(&w); err != nil {
		return nil, err
	}
	s := &shape{required: w.Required, enum: w.Enum, min: w.Minimum, max: w.Maximum}
	var err error
	if s.types, err = typesOf(w.Type); err != nil {
		return nil, err
	}
	if len(w.Required) > maxRequired {
		return nil, fmt.Errorf("%d properties are required, more than %d", len(w.Required), maxRequired)
	}
	if len(w.Properties) > 0 {
		s.props = make(map[string]prop, len(w.Properties))
	}
	for name, value := range w.Properties {
		inner, err := newShape(value)
		if err != nil {
			return nil, fmt.Errorf("the property %q: %w", name, err)
		}
		s.props[name] = prop{shape: inner}
	}
	for i, name := range w.Required {
		p, ok := s.props[name]
		if !ok || p.bit != 0 {
			return nil, fmt.Errorf("the required property %q is none, or is named twice", name)
		}
		p.bit = 1 << i
		s.props[name] = p
	}
	switch string(w.Additional) {
	case "", "true":
	case "false":
		s.closed = true
	default:
		if s.extra, err = newShape(w.Additional); err != nil {
			return nil, fmt.Errorf("other properties: %w", err)
		}
	}
	if len(w.Items) > 0 {
		if s.items, err = newShape(w.Items); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	return s, nil
}

// typesOf reads the type, or the list of types, of a schema.
func typesOf(raw json.RawMessage) (types []string, err error) {
	switch {
	case len(raw) == 0:
		return nil, nil
	case raw[0] == '[':
		err = json.Unmarshal(raw, &types)
	default:
		types = []string{""}
		err = json.Unmarshal(raw, &types[0])
	}
	for _, t := range types {
		switch t {
		case "string", "number", "integer", "boolean", "object", "array", "null":
		default:
			err = errors.Join(err, fmt.Errorf("there is no type %q", t))
		}
	}
	return types, err
}

// any reports that a value needs no look.
func (s *shape) any() bool {
	return s == nil || len(s.types) == 0 && len(s.props) == 0 && len(s.required) == 0 && !s.closed && s.extra == nil && s.items == nil &&
		s.enum == nil && s.min == nil && s.max == nil
}

func (s *shape) admits(kind string) bool {
	if len(s.types) == 0 {
		return true
	}
	for _, t := range s.types {
		if t == kind || t == "number" && kind == "integer" {
			return true
		}
	}
	return false
}
