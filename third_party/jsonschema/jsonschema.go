// Package jsonschema checks JSON values against schemas, with the part of the interface of
// github.com/santhosh-tekuri/jsonschema/v6 that mcp-go uses; README.md says why it takes that
// module's place. github.com/google/jsonschema-go decides what is valid.
package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// UnmarshalJSON reads one JSON value, and nothing behind it. Numbers become json.Number, so
// that none is rounded.
func UnmarshalJSON(r io.Reader) (any, error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the JSON value")
	}
	return v, nil
}

// Compiler makes schemas of JSON documents.
type Compiler struct{ docs map[string]any }

// NewCompiler gives a compiler without documents.
func NewCompiler() *Compiler { return &Compiler{docs: map[string]any{}} }

// AddResource names a document, as UnmarshalJSON gives it, by its absolute address. Nothing is
// ever fetched: a reference leads to what was added, or Compile fails.
func (c *Compiler) AddResource(address string, doc any) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return err
	case !u.IsAbs():
		return fmt.Errorf("the address %q of a schema is not absolute", address)
	}
	if _, taken := c.docs[address]; taken {
		return fmt.Errorf("the address %q was given to a schema already", address)
	}
	c.docs[address] = doc
	return nil
}

// Compile makes a schema of a document that was added. It fails where the document is no
// schema, or where one of its references leads nowhere.
func (c *Compiler) Compile(address string) (*Schema, error) {
	s, err := c.load(address)
	if err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{BaseURI: address, Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		return c.load(u.String())
	}})
	if err != nil {
		return nil, fmt.Errorf("the schema %s: %w", address, err)
	}
	return &Schema{address: address, resolved: resolved}, nil
}

func (c *Compiler) load(address string) (*jsonschema.Schema, error) {
	doc, ok := c.docs[address]
	if !ok {
		return nil, fmt.Errorf("there is no schema at %s", address)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("the schema %s: %w", address, err)
	}
	return &s, nil
}

// Schema is a schema, ready for use by several goroutines at once.
type Schema struct {
	address  string
	resolved *jsonschema.Resolved
}

// Validate checks a value as UnmarshalJSON gives it, or of the plain Go types that
// encoding/json decodes to. Its error is a *ValidationError.
func (s *Schema) Validate(v any) error {
	v, err := plain(v, 0)
	if err == nil {
		err = s.resolved.Validate(v)
	}
	if err == nil {
		return nil
	}
	e := explanation{root: s.resolved.Schema(), left: maxCauses}
	e.look(e.root, v, nil, 0)
	if len(e.causes) == 0 {
		e.add(nil, other(err))
	}
	return &ValidationError{SchemaURL: s.address, ErrorKind: group, Causes: e.causes}
}

// maxDepth is how deep values may be nested, as deep as encoding/json takes them.
const maxDepth = 10_000

// plain gives a value with numbers that have values: int64 where they are whole and fit,
// float64 else.
func plain(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("the value is nested too deeply")
	}
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil || math.IsInf(f, 0) {
			return nil, fmt.Errorf("the number %s is out of range", cut(v.String()))
		}
		return f, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			p, err := plain(item, depth+1)
			if err != nil {
				return nil, err
			}
			out[k] = p
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			p, err := plain(item, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = p
		}
		return out, nil
	}
	return v, nil
}

// ValidationError says what is wrong with a value. The one that Validate gives has a cause for
// each part of the value that is at fault; these have no causes.
type ValidationError struct {
	SchemaURL        string
	InstanceLocation []string // names and indexes that lead to the part
	ErrorKind        ErrorKind
	Causes           []*ValidationError
}

// ErrorKind is one of the types of package kind.
type ErrorKind interface{ Words() string }

// Error gives one line for each cause.
func (e *ValidationError) Error() string {
	if len(e.Causes) == 0 {
		return fmt.Sprintf("at '/%s': %s", strings.Join(e.InstanceLocation, "/"), e.ErrorKind.Words())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the value does not meet the schema %s", e.SchemaURL)
	for _, c := range e.Causes {
		b.WriteString("\n- " + c.Error())
	}
	return b.String()
}
