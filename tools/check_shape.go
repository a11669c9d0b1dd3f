package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"mem/core/rawjson"
)

// errNoJSON is what a check says of a text that ends early or is no JSON.
var errNoJSON = errors.New("it is no JSON")

// Bounds of what a check tells.
const (
	maxFaults    = 20
	maxNameShown = 200 // bytes
)

// look is one check of a JSON text against a shape. It reads the text once, decodes nothing
// that it need not compare, and allocates where something is wrong.
type look struct {
	b      []byte
	noun   string // what a property is to the reader
	path   []step
	faults []string
	more   int // faults that are not told
}

// step leads from a value to one in it: a name as it is written, or an index.
type step struct {
	name  []byte
	index int
}

// check says in words what is wrong with a JSON text, "" for nothing: each unknown, missing
// and ill-typed property by name, which noun says what to call.
func (s *shape) check(b []byte, noun string) (string, error) {
	var room [8]step
	l := look{b: b, noun: noun, path: room[:0]}
	end, ok := l.value(rawjson.Space(b, 0), s)
	if !ok || rawjson.Space(b, end) != len(b) {
		return "", errNoJSON
	}
	if l.more > 0 {
		l.faults = append(l.faults, fmt.Sprintf("and %d more", l.more))
	}
	return strings.Join(l.faults, "; "), nil
}

// room reports whether one more fault is told, and counts it where not: words that nobody
// reads are not made.
func (l *look) room() bool {
	if len(l.faults) < maxFaults {
		return true
	}
	l.more++
	return false
}

func (l *look) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// at names the value that is looked at.
func (l *look) at() string {
	if len(l.path) == 0 {
		return "the " + l.noun + "s"
	}
	var names []string
	for _, s := range l.path {
		if s.name == nil {
			names = append(names, strconv.Itoa(s.index))
		} else {
			names = append(names, unquote(s.name))
		}
	}
	return "the " + l.noun + " " + quotedName(strings.Join(names, "."))
}

func quotedName(name string) string {
	if len(name) > maxNameShown {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(name[:maxNameShown], ""))
	}
	return fmt.Sprintf("%q", name)
}

func quotedNames(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, quotedName(n))
	}
	return strings.Join(out, ", ")
}

// unquote decodes a JSON string.
func unquote(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return string(text)
	}
	return s
}

// value looks at the value at i and gives where it ends.
func (l *look) value(i int, s *shape) (end int, ok bool) {
	if i >= len(l.b) {
		return i, false
	}
	first := l.b[i]
	switch {
	case s.any():
		return l.skip(i)
	case first == '{' && l.typed(s, "object"):
		return l.object(i, s)
	case first == '[' && l.typed(s, "array"):
		return l.array(i, s)
	}
	if end, ok = l.skip(i); !ok || first == '{' || first == '[' {
		return end, ok
	}
	text := l.b[i:end]
	switch first {
	case '"':
		l.typed(s, "string")
	case 't', 'f':
		l.typed(s, "boolean")
	case 'n':
		l.typed(s, "null")
	default:
		l.number(s, text)
	}
	if s.enum != nil {
		l.oneOf(s, text)
	}
	return end, true
}

// skip gives where the value at i ends. Of what is in it, it sees only how it nests.
func (l *look) skip(i int) (end int, ok bool) {
	end = rawjson.Value(l.b, i)
	return end, end >= 0
}

func (l *look) typed(s *shape, kind string) bool {
	ok := s.admits(kind)
	if !ok && l.room() {
		if kind == "integer" {
			kind = "number"
		}
		l.fault("%s must be of type %s, not %s", l.at(), strings.Join(s.types, " or "), kind)
	}
	return ok
}

func (l *look) oneOf(s *shape, text []byte) {
	got := string(text)
	if text[0] == '"' {
		got = unquote(text)
		if slices.Contains(s.enum, got) {
			return
		}
	}
	if l.room() {
		l.fault("%s is %s; it must be one of %s", l.at(), quotedName(got), quotedNames(s.enum))
	}
}

func (l *look) number(s *shape, text []byte) {
	kind := "number"
	if isWhole(text) {
		kind = "integer"
	}
	if !l.typed(s, kind) || s.min == nil && s.max == nil {
		return
	}
	n, err := strconv.ParseFloat(string(text), 64) // ±Inf where it is out of range
	switch {
	case errors.Is(err, strconv.ErrSyntax):
	case s.min != nil && n < *s.min:
		if l.room() {
			l.fault("%s is %s; it must be at least %v", l.at(), text, *s.min)
		}
	case s.max != nil && n > *s.max:
		if l.room() {
			l.fault("%s is %s; it must be at most %v", l.at(), text, *s.max)
		}
	}
}

// isWhole reports whether a number has no fraction, however it is written.
func isWhole(text []byte) bool {
	if bytes.ContainsAny(text, "eE") {
		n, err := strconv.ParseFloat(string(text), 64)
		return err == nil && n == math.Trunc(n)
	}
	_, fraction, _ := bytes.Cut(text, []byte("."))
	return len(bytes.Trim(fraction, "0")) == 0
}

func (l *look) array(i int, s *shape) (end int, ok bool) {
	i, more := rawjson.First(l.b, i, ']')
	if !more {
		return i, true
	}
	l.path = append(l.path, step{})
	for n := 0; more; n++ {
		l.path[len(l.path)-1].index = n
		if i, ok = l.value(i, s.items); !ok {
			return i, false
		}
		if i, more = rawjson.Next(l.b, i, ']'); i < 0 {
			return i, false
		}
	}
	l.path = l.path[:len(l.path)-1]
	return i, true
}

func (l *look) object(i int, s *shape) (end int, ok bool) {
	var seen uint64
	var unknown []string // as many as are told
	strange := 0
	i, more := rawjson.First(l.b, i, '}')
	if !more {
		l.missing(s, seen)
		return i, true
	}
	l.path = append(l.path, step{})
	for more {
		name, at := rawjson.Member(l.b, i)
		if at < 0 {
			return at, false
		}
		p, known := s.property(name)
		seen |= p.bit
		switch {
		case known:
		case s.closed:
			if strange++; strange <= maxFaults {
				unknown = append(unknown, unquote(name))
			}
		default:
			p.shape = s.extra
		}
		l.path[len(l.path)-1].name = name
		if i, ok = l.value(at, p.shape); !ok {
			return i, false
		}
		if i, more = rawjson.Next(l.b, i, '}'); i < 0 {
			return i, false
		}
	}
	l.path = l.path[:len(l.path)-1]
	if strange > 0 && l.room() {
		told := quotedNames(unknown)
		if strange > maxFaults {
			told += fmt.Sprintf(" and %d more", strange-maxFaults)
		}
		l.fault("there is no %s %s", l.noun, told)
	}
	l.missing(s, seen)
	return i, true
}

// property finds a property by its name as it is written.
func (s *shape) property(name []byte) (prop, bool) {
	plain := name[1 : len(name)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		p, ok := s.props[unquote(name)]
		return p, ok
	}
	p, ok := s.props[string(plain)]
	return p, ok
}

func (l *look) missing(s *shape, seen uint64) {
	if bits.OnesCount64(seen) == len(s.required) {
		return
	}
	for i, name := range s.required {
		if seen&(1<<i) == 0 && l.room() {
			l.path = append(l.path, step{name: []byte(quote(name))})
			l.fault("%s is missing", l.at())
			l.path = l.path[:len(l.path)-1]
		}
	}
}
