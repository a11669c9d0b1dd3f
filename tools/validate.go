package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// validator checks arguments and results against a schema, read at the first call. It
// takes the place of mcp-go's own check, whose messages print Go structs.
type validator struct {
	name   string
	schema json.RawMessage

	once  sync.Once
	shape *shape
	err   error
}

func (v *validator) read() { v.shape, v.err = newShape(v.schema) }

// check says in words what is wrong with arguments, encoded as JSON: each unknown,
// missing and ill-typed one by name.
func (v *validator) check(args []byte) error {
	v.once.Do(v.read)
	if v.err != nil {
		return fmt.Errorf("the schema of %s is broken: %w", v.name, v.err)
	}
	wrong, err := v.shape.check(args, "argument")
	if err == nil && wrong != "" {
		err = errors.New(wrong)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", v.name, err)
	}
	return nil
}

// checkResult says what is wrong with an encoded result. It is what keeps a field
// that a schema lacks from reaching a client, which would throw the result away.
func (v *validator) checkResult(encoded []byte) error {
	v.once.Do(v.read)
	if v.err != nil {
		return fmt.Errorf("the output schema of %s is broken: %w", v.name, v.err)
	}
	wrong, err := v.shape.check(encoded, "property")
	if err == nil && wrong != "" {
		err = errors.New(wrong)
	}
	if err != nil {
		return fmt.Errorf("%s made a result that its output schema does not admit, which is a fault of mem; please report it: %w", v.name, err)
	}
	return nil
}
