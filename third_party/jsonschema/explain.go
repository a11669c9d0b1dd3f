package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Bounds of what an error tells.
const (
	maxCauses = 32
	maxNames  = 16
	maxWords  = 400 // bytes
	maxLooks  = 64  // schemas below each other, of which references can make a circle
)

var group ErrorKind = kind.Group{}

// explanation collects what is wrong with a value that was refused. It decides nothing: a fault
// of a keyword that it does not know is left to the words of who decided.
type explanation struct {
	root   *jsonschema.Schema
	causes []*ValidationError
	left   int
}

func (e *explanation) add(at []string, k ErrorKind) {
	if e.left > 0 {
		e.left--
		e.causes = append(e.causes, &ValidationError{InstanceLocation: slices.Clone(at), ErrorKind: k})
	}
}

func (e *explanation) look(s *jsonschema.Schema, v any, at []string, depth int) {
	if s == nil || depth > maxLooks || e.left == 0 {
		return
	}
	if s.Ref != "" {
		e.look(e.local(s.Ref), v, at, depth+1)
	}
	for _, part := range s.AllOf {
		e.look(part, v, at, depth+1)
	}
	e.types(s, v, at)
	e.values(s, v, at)
	switch v := v.(type) {
	case string:
		e.text(s, v, at)
	case int64:
		e.number(s, float64(v), at)
	case float64:
		e.number(s, v, at)
	case []any:
		e.array(s, v, at, depth)
	case map[string]any:
		e.object(s, v, at, depth)
	}
}

// local finds the schema of a reference within the document.
func (e *explanation) local(ref string) *jsonschema.Schema {
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return e.root.Defs[name]
	}
	if name, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
		return e.root.Definitions[name]
	}
	if ref == "#" {
		return e.root
	}
	return nil
}

func (e *explanation) types(s *jsonschema.Schema, v any, at []string) {
	want := s.Types
	if s.Type != "" {
		want = []string{s.Type}
	}
	got := typeOf(v)
	if len(want) == 0 || slices.Contains(want, got) || got == "number" && slices.Contains(want, "integer") && whole(v) {
		return
	}
	e.add(at, kind.Type{Got: got, Want: want})
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func whole(v any) bool {
	f, ok := v.(float64)
	return !ok || f == math.Trunc(f)
}

func (e *explanation) values(s *jsonschema.Schema, v any, at []string) {
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(w any) bool { return same(v, w) }) {
		e.add(at, kind.Enum{Got: shown(v), Want: s.Enum[:min(len(s.Enum), maxNames)]})
	}
	if s.Const != nil && !same(v, *s.Const) {
		e.add(at, kind.Const{Got: shown(v), Want: *s.Const})
	}
}

// same compares numbers by value, whatever their types.
func same(a, b any) bool {
	if n, ok := a.(int64); ok {
		a = float64(n)
	}
	if n, ok := b.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			b = f
		}
	}
	switch a.(type) {
	case []any, map[string]any:
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX == nil && errY == nil && string(x) == string(y)
	}
	return reflect.DeepEqual(a, b)
}

// shown gives a value as an error repeats it.
func shown(v any) any {
	switch v := v.(type) {
	case string:
		return cut(v)
	case []any, map[string]any:
		return "an " + typeOf(v)
	}
	return v
}

func cut(s string) string {
	if len(s) <= maxWords {
		return s
	}
	n := maxWords
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func other(err error) ErrorKind { return kind.Other{Message: cut(err.Error())} }

func (e *explanation) number(s *jsonschema.Schema, n float64, at []string) {
	switch {
	case s.Minimum != nil && n < *s.Minimum:
		e.add(at, kind.Minimum{Got: n, Want: *s.Minimum})
	case s.Maximum != nil && n > *s.Maximum:
		e.add(at, kind.Maximum{Got: n, Want: *s.Maximum})
	case s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum:
		e.add(at, kind.ExclusiveMinimum{Got: n, Want: *s.ExclusiveMinimum})
	case s.ExclusiveMaximum != nil && n >= *s.ExclusiveMaximum:
		e.add(at, kind.ExclusiveMaximum{Got: n, Want: *s.ExclusiveMaximum})
	}
}

func (e *explanation) text(s *jsonschema.Schema, text string, at []string) {
	n := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		e.add(at, kind.MinLength{Got: n, Want: *s.MinLength})
	case s.MaxLength != nil && n > *s.MaxLength:
		e.add(at, kind.MaxLength{Got: n, Want: *s.MaxLength})
	}
	if s.Pattern != "" {
		if p, err := regexp.Compile(s.Pattern); err == nil && !p.MatchString(text) {
			e.add(at, kind.Pattern{Got: cut(text), Want: cut(s.Pattern)})
		}
	}
}

func (e *explanation) array(s *jsonschema.Schema, items []any, at []string, depth int) {
	switch {
	case s.MinItems != nil && len(items) < *s.MinItems:
		e.add(at, kind.MinItems{Got: len(items), Want: *s.MinItems})
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		e.add(at, kind.MaxItems{Got: len(items), Want: *s.MaxItems})
	}
	first := s.PrefixItems
	if first == nil {
		first = s.ItemsArray
	}
	for i, item := range items {
		where := append(slices.Clip(at), strconv.Itoa(i))
		if i < len(first) {
			e.look(first[i], item, where, depth+1)
		} else {
			e.look(s.Items, item, where, depth+1)
		}
	}
}

func (e *explanation) object(s *jsonschema.Schema, object map[string]any, at []string, depth int) {
	switch {
	case s.MinProperties != nil && len(object) < *s.MinProperties:
		e.add(at, kind.MinProperties{Got: len(object), Want: *s.MinProperties})
	case s.MaxProperties != nil && len(object) > *s.MaxProperties:
		e.add(at, kind.MaxProperties{Got: len(object), Want: *s.MaxProperties})
	}
	var missing, unknown []string
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			missing = append(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		where := append(slices.Clip(at), cut(name))
		value, known := s.Properties[name]
		if known {
			e.look(value, object[name], where, depth+1)
		}
		for pattern, value := range s.PatternProperties {
			if p, err := regexp.Compile(pattern); err == nil && p.MatchString(name) {
				known = true
				e.look(value, object[name], where, depth+1)
			}
		}
		switch {
		case known || s.AdditionalProperties == nil:
		case admitsNothing(s.AdditionalProperties):
			unknown = append(unknown, cut(name))
		default:
			e.look(s.AdditionalProperties, object[name], where, depth+1)
		}
	}
	if len(missing) > 0 {
		e.add(at, kind.Required{Missing: few(missing)})
	}
	if len(unknown) > 0 {
		e.add(at, kind.AdditionalProperties{Properties: few(unknown)})
	}
}

func few(names []string) []string {
	if len(names) > maxNames {
		return append(names[:maxNames:maxNames], fmt.Sprintf("and %d more", len(names)-maxNames))
	}
	return names
}

// admitsNothing recognises the schema false, which is decoded as the denial of what admits
// everything.
func admitsNothing(s *jsonschema.Schema) bool {
	return s.Not != nil && reflect.DeepEqual(*s.Not, jsonschema.Schema{}) && reflect.DeepEqual(*s, jsonschema.Schema{Not: s.Not})
}
