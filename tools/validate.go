package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// validator checks arguments against a schema, compiled at the first call. It
// takes the place of mcp-go's own check, whose messages print Go structs.
type validator struct {
	name   string
	schema json.RawMessage

	once     sync.Once
	compiled *jsonschema.Schema
	err      error
}

func (v *validator) compile() {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.schema))
	if err != nil {
		v.err = err
		return
	}
	c := jsonschema.NewCompiler()
	address := "mem:///" + v.name // absolute: a relative one is resolved in the working directory, which may be gone
	if v.err = c.AddResource(address, doc); v.err == nil {
		v.compiled, v.err = c.Compile(address)
	}
}

// check says in words what is wrong with arguments: each unknown, missing and
// ill-typed one by name.
func (v *validator) check(args any) error {
	v.once.Do(v.compile)
	if v.err != nil {
		return fmt.Errorf("the schema of %s is broken: %w", v.name, v.err)
	}
	if args == nil {
		args = map[string]any{}
	}
	var invalid *jsonschema.ValidationError
	err := v.compiled.Validate(args)
	if err == nil || !errors.As(err, &invalid) {
		return err
	}
	return fmt.Errorf("%s: %s", v.name, strings.Join(complaints(invalid), "; "))
}

// checkResult says what is wrong with an encoded result. It is what keeps a field
// that a schema lacks from reaching a client, which would throw the result away.
func (v *validator) checkResult(encoded []byte) error {
	v.once.Do(v.compile)
	if v.err != nil {
		return fmt.Errorf("the output schema of %s is broken: %w", v.name, v.err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(withoutTexts(encoded)))
	if err == nil {
		err = v.compiled.Validate(value)
	}
	if err != nil {
		return fmt.Errorf("%s made a result that its output schema does not admit, which is a fault of mem; please report it: %w", v.name, err)
	}
	return nil
}

// longText is the length from which a string is no value of a closed set.
const longText = 64

// withoutTexts gives a JSON text with its long strings emptied. Schemas of results
// say nothing of them but that they are strings, and to decode them would be most of
// the cost of a check.
func withoutTexts(b []byte) []byte {
	out := make([]byte, 0, min(len(b), 1<<10))
	for {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			return append(out, b...)
		}
		end := i + 1
		for {
			n := bytes.IndexAny(b[end:], `"\`)
			if n < 0 {
				return append(out, b...) // no JSON: the decoder says so
			}
			if end += n; b[end] == '"' {
				break
			}
			end += 2
			if end > len(b) {
				return append(out, b...)
			}
		}
		if end-i > longText {
			out = append(append(out, b[:i]...), `""`...)
		} else {
			out = append(out, b[:end+1]...)
		}
		b = b[end+1:]
	}
}

func complaints(e *jsonschema.ValidationError) []string {
	if len(e.Causes) > 0 {
		var all []string
		for _, c := range e.Causes {
			all = append(all, complaints(c)...)
		}
		return all
	}
	at := strings.Join(e.InstanceLocation, ".")
	if at == "" {
		at = "the arguments"
	} else {
		at = fmt.Sprintf("the argument %q", at)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return []string{fmt.Sprintf("there is no argument %s", quoted(k.Properties))}
	case *kind.Required:
		var all []string
		for _, name := range k.Missing {
			all = append(all, fmt.Sprintf("the argument %q is missing", name))
		}
		return all
	case *kind.Type:
		return []string{fmt.Sprintf("%s must be of type %s, not %s", at, strings.Join(k.Want, " or "), k.Got)}
	case *kind.Enum:
		return []string{fmt.Sprintf("%s is %q; it must be one of %s", at, fmt.Sprint(k.Got), quoted(k.Want))}
	case *kind.Minimum:
		return []string{fmt.Sprintf("%s is %s; it must be at least %s", at, k.Got.RatString(), k.Want.RatString())}
	}
	return []string{at + " " + e.Error()}
}

func quoted[T any](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%q", fmt.Sprint(v)))
	}
	return strings.Join(out, ", ")
}
